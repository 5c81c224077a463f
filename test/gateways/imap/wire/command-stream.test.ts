// Tests commands that carry messages: alternating text and literals, and octets that are skipped.

import { CommandSyntaxError } from '../../../../src/gateways/imap/wire/command-reader.js';
import test from '../../../support/test.js';
import { MemoryPort } from './memory-port.js';
import { octetsOf, shown, sourceOf, streamOf } from './sources.js';

test('a command that carries messages comes as text and literals by turns; none is invited before it is wanted', async (t) => {
  const port = new MemoryPort([
    'a1 APPEND {5}\r\nINBOX (\\Seen) {3}\r\nabc "x" ~{2+}\r\n\0\0) end\r\na2 NOOP\r\n'.slice(0),
  ]);
  const source = sourceOf(port);
  const stream = await streamOf(source);
  t.is(port.written, '');
  const first = await stream.text();
  t.is(port.written, '+ OK\r\n');
  t.is(first.mailbox(), 'INBOX');
  first.space();
  t.deepEqual(
    first.list(() => first.flag()),
    ['\\Seen'],
  );
  first.space();
  t.true(first.isAtEnd);
  t.like(stream.next, { size: 3, isBinary: false });
  t.is(port.written, '+ OK\r\n');
  t.is(await octetsOf(stream), 'abc');
  t.is(port.written, '+ OK\r\n+ OK\r\n');
  const second = await stream.text();
  t.true(second.accept(' "X" '));
  t.true(second.isAtEnd);
  t.like(stream.next, { size: 2, isBinary: true });
  t.is(await octetsOf(stream), '\0\0');
  const third = await stream.text();
  t.true(third.accept(') END'));
  t.is(stream.next, undefined);
  t.throws(() => stream.literal(), { instanceOf: CommandSyntaxError });
  t.is(port.written, '+ OK\r\n+ OK\r\n');
  t.is(shown((await source.next())!), 'a2 NOOP');
});

for (const [title, wire, texts] of [
  ['a mailbox that is a number', 'a APPEND 5 {3+}\r\nabc\r\n', ['5 ', 'abc', '']],
  ['a mailbox of REPLACE', 'a REPLACE 5 {3+}\r\nabc {1+}\r\nx\r\n', ['5 {3+}\r\nabc ', 'x', '']],
  ['a mailbox of UID REPLACE', 'a UID REPLACE * {3+}\r\nabc {1+}\r\nx\r\n', ['* {3+}\r\nabc ', 'x', '']],
  [
    'URLs and texts of CATENATE',
    'a APPEND x CATENATE (URL {2+}\r\n/u TEXT {1+}\r\nx URL "/v" url {1+}\r\nw)\r\n',
    ['x CATENATE (URL {2+}\r\n/u TEXT ', 'x', ' URL "/v" url {1+}\r\nw)'],
  ],
  ['a message in UTF8', 'a APPEND x UTF8 (~{1+}\r\nx)\r\n', ['x UTF8 (', 'x', ')']],
  ['no literal at all', 'a APPEND x CATENATE (URL /u)\r\n', ['x CATENATE (URL /u)']],
  ['nothing at all', 'a APPEND\r\n', ['']],
] as const) {
  test(`${title} in a command that carries messages`, async (t) => {
    const source = sourceOf(new MemoryPort([wire, 'b NOOP\r\n']));
    const stream = await streamOf(source);
    const found: string[] = [];
    for (;;) {
      const reader = await stream.text();
      const from = reader.position;
      while (!reader.isAtEnd) if (!['(', ')', ' ', '*'].some((text) => reader.accept(text))) reader.astringOctets();
      found.push(reader.textSince(from));
      if (stream.next === undefined) break;
      found.push(await octetsOf(stream));
    }
    t.deepEqual(found, texts);
    t.is(shown((await source.next())!), 'b NOOP');
  });
}

test('a message that is refused before it is read is passed over', async (t) => {
  for (const wire of [
    'a1 APPEND x {400}\r\n',
    `a1 APPEND x {400+}\r\n${'m'.repeat(400)}\r\n`,
    `a1 APPEND x {400+}\r\n${'m'.repeat(400)} {5+}\r\nabcde\r\n`,
    `a1 APPEND x {400+}\r\n${'m'.repeat(400)} {5}\r\n`,
  ]) {
    const port = new MemoryPort([wire, 'a2 NOOP\r\n']);
    const source = sourceOf(port);
    const stream = await streamOf(source);
    const reader = await stream.text();
    t.is(reader.mailbox(), 'x');
    t.like(stream.next, { size: 400 });
    t.is(shown((await source.next())!), 'a2 NOOP');
    t.is(port.written, '');
  }
});

test('a message that is read in part is passed over', async (t) => {
  const source = sourceOf(new MemoryPort(['a1 APPEND x {6}\r\nabc', 'def {2+}\r\nxy\r\n', 'a2 NOOP\r\n']));
  const stream = await streamOf(source);
  await stream.text();
  for await (const chunk of stream.literal().chunks) {
    t.is(chunk.toString(), 'abc');
    break;
  }
  t.is(shown((await source.next())!), 'a2 NOOP');
});

test('a command that reads nothing is passed over', async (t) => {
  const wire = 'a1 APPEND {3+}\r\nabc {2+}\r\nxy\r\n';
  for (let cut = 0; cut <= wire.length; cut++) {
    const source = sourceOf(new MemoryPort([wire.slice(0, cut), wire.slice(cut), 'a2 NOOP\r\n']));
    t.is(shown((await source.next())!), 'a1 APPEND …');
    t.is(shown((await source.next())!), 'a2 NOOP');
  }
});

test('a message of which too much would be passed over loses the connection', async (t) => {
  const source = sourceOf(new MemoryPort([`a1 APPEND x {1301+}\r\n`, 'm'.repeat(1301), '\r\na2 NOOP\r\n']));
  await (await streamOf(source)).text();
  t.is(shown((await source.next())!), 'BYE TOOBIG');
});

test('a NUL in a message is refused outside of literal8', async (t) => {
  const source = sourceOf(new MemoryPort(['a1 APPEND x {5+}\r\nab\0cd\r\na2 NOOP\r\n']));
  const stream = await streamOf(source);
  await stream.text();
  await t.throwsAsync(octetsOf(stream), { instanceOf: CommandSyntaxError });
  t.is(shown((await source.next())!), 'a2 NOOP');
});

test('arguments of a command that carries messages are bounded', async (t) => {
  for (const [wire, code] of [
    ['a1 APPEND {101}\r\n', 'TOOBIG'],
    [`a1 APPEND {101+}\r\n${'x'.repeat(101)} {1+}\r\nx\r\n`, 'TOOBIG'],
    [`a1 APPEND x CATENATE (${`URL {90+}\r\n${'x'.repeat(90)} `.repeat(4)})\r\n`, 'LIMIT'],
  ] as const) {
    const source = sourceOf(new MemoryPort([wire, 'a2 NOOP\r\n']));
    const stream = await streamOf(source);
    await t.throwsAsync(stream.text(), { name: 'Refused' }, code);
    t.is(shown((await source.next())!), 'a2 NOOP');
  }
});

test('a message streams in bounded memory', async (t) => {
  const size = 20_000_000;
  const pieces = [
    'a1 APPEND x {20000000}\r\n',
    ...Array<string>(size / 100_000).fill('m'.repeat(100_000)),
    '\r\na2 NOOP\r\n',
  ];
  const port = new MemoryPort(pieces);
  const source = sourceOf(port);
  const stream = await streamOf(source);
  await stream.text();
  let octets = 0;
  for await (const chunk of stream.literal().chunks) octets += chunk.length;
  t.is(octets, size);
  t.true(port.mostHeld <= 100_000);
  t.is(shown((await source.next())!), 'a2 NOOP');
});
