// Tests the edits of a header as a value, and the octets of the header with them.
import fc from 'fast-check';
import { headerPairs } from '../../../src/mail-format/header/header-pairs.js';
import { editedHeader, headerEdit } from '../../../src/mail-format/sieve/header-edit.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { messageOf, outcome, resultOf } from './running.js';

const TRACE = 'Return-Path: <a@b.test>\r\nReceived: from a by b;\r\n\tFri, 27 Nov 2026 10:00:00 +0100\r\n';
const HEADER = `${TRACE}X-Old:  1\r\nnot a field\r\nX-OLD: 2\r\nSubject: hi\r\n  there\r\n\r\n`;

/** The header after the commands, as text. */
function edited(commands: string, header = HEADER): string {
  const letter = `${header.trimEnd()}\r\n\r\nbody`;
  const { actions, fault } = resultOf(`require ["editheader", "variables"]; ${commands}`, { letter });
  if (fault !== undefined) throw new Error(fault.message);
  const [action] = actions;
  const edit = action?.type === 'keep' ? action.edit : undefined;
  return edit === undefined ? 'as it came' : editedHeader(Buffer.from(header), edit).toString();
}

test('fields are added below the trace fields and at the end, and the others keep their octets', (t) => {
  t.is(
    edited('addheader "X-A" "one"; addheader "X-B" "two"; addheader :last "X-C" "three";'),
    `${TRACE}X-B: two\r\nX-A: one\r\n${HEADER.slice(TRACE.length, -2)}X-C: three\r\n\r\n`,
  );
  t.is(edited('deleteheader :index 1 :last "x-old";'), HEADER.replace('X-OLD: 2\r\n', ''));
  t.is(edited('deleteheader "subject" "hi  there"; deleteheader "X-Old";'), `${TRACE}not a field\r\n\r\n`);
  t.is(edited('deleteheader "X-None"; deleteheader "subject" "other";'), 'as it came');
  t.is(edited('addheader "X-A" "one"; deleteheader "X-A";'), 'as it came');
  t.is(edited('addheader :last "X-A" "b";', 'Subject: a'), 'Subject: a\r\nX-A: b\r\n');
  t.is(edited('deleteheader "subject"; addheader :last "X-A" "b";', 'Subject: a\r\n\r\n'), 'X-A: b\r\n\r\n');
});

test('fields that are added are ASCII in short lines', (t) => {
  const value = 'Grüße aus dem Süden und noch viel mehr, damit die Zeile länger wird als eine, die man so schreibt';
  const header = edited(`addheader "X-A" "${value}";`, 'Subject: a\r\n\r\n');
  t.regex(header, /^[\r\n\t -~]*$/);
  for (const line of header.split('\r\n')) t.true(line.length <= 78, line);
  t.deepEqual(
    messageOf(header).fields.map(({ name }) => name),
    ['X-A', 'Subject'],
  );
});

test('the way of a message and its marks of automatic mail stay, and no script adds trace fields', (t) => {
  const names = ['Received', 'Return-Path', 'Delivered-To', 'Authentication-Results', 'ARC-Seal', 'Auto-Submitted'];
  const header = `${names.map((name) => `${name}: x\r\n`).join('')}\r\n`;
  t.is(edited(names.map((name) => `deleteheader "${name}";`).join(' '), header), 'as it came');
  for (const name of names.slice(0, -1)) {
    const script = `require ["editheader", "variables"]; set "name" "${name}"; addheader "\${name}" "x";`;
    t.regex(outcome(script)[0]!, /^fault 1:\d+ the server alone adds /);
  }
  t.regex(edited('addheader "Auto-Submitted" "auto-replied";'), /^Auto-Submitted: auto-replied\r$/m);
});

test('edits are bounded', (t) => {
  const long = `addheader "X-A" "${'a'.repeat(2_000)}";`;
  t.regex(outcome(`require "editheader"; ${long.repeat(20)}`)[0]!, /^fault .*adds too much/);
  t.regex(outcome(`require "editheader"; ${'addheader "X-A" "a";'.repeat(101)}`)[0]!, /^fault .*too often/);
  const file = (n: number) => `addheader "X-A" "${n}"; fileinto "${n}";`;
  const files = (most: number) => Array.from({ length: most }, (_, n) => file(n)).join(' ');
  const script = (most: number) => `require ["editheader", "fileinto"]; ${files(most)}`;
  t.deepEqual(outcome(script(4)), ['fileinto 0', 'fileinto 1', 'fileinto 2', 'fileinto 3']);
  t.regex(outcome(script(5))[0]!, /^fault .*too many different headers/);
});

const field = fc.record({
  name: fc.constantFrom('X-A', 'X-B', 'Received', 'Subject'),
  value: fc.stringMatching(/^[a-zü]{0,5}( [a-z]{1,90})*$/).filter((value) => value.length <= 900),
});

test('the edits of any two headers make the second of the first', (t) => {
  const make = (
    first: unknown[],
    fields: readonly { name: string; value: string }[],
    kept: boolean[],
    last: unknown[],
  ) => {
    const added = [first, last] as (typeof fields)[];
    const still = fields.filter((_, i) => kept[i] === true);
    const edit = headerEdit(fields, [...added[0]!, ...still, ...added[1]!]);
    const header = Buffer.from(`${fields.map(({ name, value }) => `${name}: ${value}\r\n`).join('')}\r\n`);
    const found = headerPairs(edit === undefined ? header : editedHeader(header, edit)).map(([name]) => name);
    const names = (all: readonly { name: string }[]) => all.map(({ name }) => name);
    const above = still.findIndex(({ name }) => name !== 'Received');
    const trace = above < 0 ? still.length : above;
    t.deepEqual(found, [
      ...names(still.slice(0, trace)),
      ...names(added[0]!),
      ...names(still.slice(trace)),
      ...names(added[1]!),
    ]);
  };
  const fields = fc.array(field, { maxLength: 4 });
  const kept = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 });
  t.notThrows(() => fc.assert(fc.property(fields, fields, kept, fields, make), { numRuns: runs(500) }));
});
