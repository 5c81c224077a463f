// Tests the plan of a delivery against a naive model, on random filters and emails; and that filters which wait for a part of the message
// add up to what they do at once.
import fc from 'fast-check';
import { searchBody } from '../../../../src/actors/mailbox/filters/body-search.js';
import {
  type DeliveryPlan,
  planDelivery,
  planOf,
  upToLast,
} from '../../../../src/actors/mailbox/filters/delivery-plan.js';
import { type EmailFacts, FoldedFacts } from '../../../../src/actors/mailbox/filters/filter-match.js';
import { MessageHeader } from '../../../../src/mail-format/header/message-header.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import type { FilterRow } from '../../../../src/store/mailbox-rows.js';
import { runs } from '../../../support/amounts.js';
import { NO_RULE } from '../../../support/filter-row.js';
import test from '../../../support/test.js';

const WORDS = ['red', 'GREEN', 'blue', 'Grün', 'green tea'];
const word = fc.constantFrom(...WORDS);
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { freq: 2 });
const unset = <T>(of: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: of });

const email = fc.record({
  from: word,
  to: word,
  cc: maybe(word),
  subject: word,
  body: fc.array(word, { maxLength: 4 }),
  list: maybe(word),
  tags: fc.array(word, { maxLength: 2 }),
  size: fc.nat(9),
});
type Email = typeof email extends fc.Arbitrary<infer T> ? T : never;

const filter = fc.record({
  isEnabled: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  fromAddressContains: unset(word),
  toContains: unset(word),
  ccContains: unset(word),
  subjectContains: unset(word),
  bodyContains: unset(word),
  field: unset(
    fc.record({ headerName: fc.constantFrom('X-Tag', 'x-tag', 'X-None', 'List-Id'), headerContains: maybe(word) }),
  ),
  listId: unset(word),
  minSizeBytes: unset(fc.nat(9)),
  maxSizeBytes: unset(fc.nat(9)),
  matches: unset(fc.constantFrom('r.d', '^green', 'gr(ee|\u00fc)n$', 'tea.*tea')),
  markAsRead: unset(fc.constant(true)),
  flag: unset(fc.constantFrom('\\Flagged', 'Work')),
  assignLabelId: unset(fc.constantFrom('label a', 'label b')),
  moveToFolderId: unset(fc.constantFrom('folder a', 'folder b')),
  delete: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constant(true) }),
  stop: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constant(true) }),
});
type Chosen = typeof filter extends fc.Arbitrary<infer T> ? T : never;

const fold = (text: string) => text.normalize('NFC').toLowerCase();
const has = (text: string, part: string) => fold(text).includes(fold(part));

/** The rules of the conditions, written a second time. */
function isMatch(of: Chosen, { from, to, cc, subject, body, list, tags, size }: Email): boolean {
  const text = `${subject}\n${body.join(' ')}`;
  const fields: Record<string, readonly string[]> = {
    'x-tag': tags,
    'x-none': [],
    'list-id': list === null ? [] : [list],
  };
  const values = fields[of.field?.headerName.toLowerCase() ?? ''] ?? [];
  const part = of.field?.headerContains ?? null;
  return [
    of.isEnabled,
    of.fromAddressContains === null || has(from, of.fromAddressContains),
    of.toContains === null || has(to, of.toContains),
    of.ccContains === null || (cc !== null && has(cc, of.ccContains)),
    of.subjectContains === null || has(subject, of.subjectContains),
    of.bodyContains === null || has(body.join(' '), of.bodyContains),
    of.field === null || (values.length > 0 && (part === null || values.some((value) => has(value, part)))),
    of.listId === null || (list !== null && has(list, of.listId)),
    of.minSizeBytes === null || size >= of.minSizeBytes,
    of.maxSizeBytes === null || size <= of.maxSizeBytes,
    of.matches === null || new RegExp(of.matches, 'iu').test(text),
  ].every(Boolean);
}

function model(filters: readonly Chosen[], of: Email) {
  const plan = { folders: new Set<string>(), labels: new Set<string>(), flags: new Set<string>(), remove: false };
  const times: number[] = [];
  for (const [i, rule] of filters.entries()) {
    if (!isMatch(rule, of)) continue;
    times.push(i);
    if (rule.delete === true) return { plan: { ...NOTHING, remove: true }, times };
    if (rule.moveToFolderId !== null) plan.folders.add(rule.moveToFolderId);
    if (rule.assignLabelId !== null) plan.labels.add(rule.assignLabelId);
    if (rule.flag !== null) plan.flags.add(rule.flag);
    if (rule.markAsRead !== null) plan.flags.add('\\Seen');
    if (rule.stop === true) break;
  }
  return { plan, times };
}

const NOTHING = { folders: new Set<string>(), labels: new Set<string>(), flags: new Set<string>(), remove: false };

const rowOf = ({ field, ...chosen }: Chosen, i: number): FilterRow => ({
  ...NO_RULE,
  ...chosen,
  headerName: field?.headerName ?? null,
  headerContains: field?.headerContains ?? null,
  id: `filter ${i}`,
  priority: i,
  disabledReason: null,
  createdAt: i,
  updatedAt: i,
  lastAppliedAt: null,
  timesApplied: 0,
});

async function factsOf({ from, to, cc, subject, body, list, tags, size }: Email, rows: readonly FilterRow[]) {
  const lines = [`To: "${to}" <t@b.test>`, ...(cc === null ? [] : [`Cc: "${cc}" <c@b.test>`])];
  if (list !== null) lines.push(`List-Id: ${list} <l.test>`);
  for (const tag of tags) lines.push(`X-Tag: ${tag}`);
  const octets = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  const facts: EmailFacts = {
    fromAddress: from,
    subject,
    hasAttachments: false,
    size,
    header: new MessageHeader(indexMessage(octets), octets),
    body: await searchBody({ text: body.join(' '), isWhole: true }, subject, rows),
  };
  return facts;
}

const listed = ({ folders, labels, flags, remove }: ReturnType<typeof model>['plan']) => ({
  folders: [...folders].sort(),
  labels: [...labels].sort(),
  flags: [...flags].sort(),
  remove,
});
const shown = ({ folderIds: folders, labelIds: labels, flags, remove }: DeliveryPlan) =>
  listed({ folders: new Set(folders), labels: new Set(labels), flags: new Set(flags), remove });
const both = (a: DeliveryPlan, b: DeliveryPlan): DeliveryPlan => ({
  folderIds: new Set([...a.folderIds, ...b.folderIds]),
  labelIds: new Set([...a.labelIds, ...b.labelIds]),
  flags: new Set([...a.flags, ...b.flags]),
  forwardTo: new Set([...a.forwardTo, ...b.forwardTo]),
  remove: a.remove || b.remove,
  stop: a.stop || b.stop,
});

test('a plan is what a naive reading of the filters gives', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(filter, { maxLength: 8 }), email, async (filters, of) => {
      const rows = filters.map(rowOf);
      const { plan, matched, undecided } = planDelivery(rows, await factsOf(of, rows));
      const expected = model(filters, of);
      t.deepEqual(shown(plan), listed(expected.plan));
      t.deepEqual(
        matched.map(({ id }) => id),
        expected.times.map((i) => `filter ${i}`),
      );
      t.deepEqual(undecided, []);
    }),
    { numRuns: runs(500) },
  );
});

test('filters that wait for a part of the message add up to what they do at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(filter, { maxLength: 8 }),
      email,
      fc.constantFrom<'header' | 'body' | 'start'>('header', 'body', 'start'),
      async (filters, of, missing) => {
        const rows = filters.map(rowOf);
        const facts = await factsOf(of, rows);
        const start = await searchBody({ text: of.body.slice(0, 1).join(), isWhole: false }, of.subject, rows);
        const parts = {
          header: { header: null },
          body: { body: null },
          start: { body: { ...start, patterns: facts.body!.patterns } },
        };
        const first = planDelivery(rows, { ...facts, ...parts[missing] });
        const folded = new FoldedFacts(facts);
        const later = upToLast(first.undecided.filter((row) => folded.judge(row) === 'matches'));
        const whole = both(first.plan, planOf(later));
        const { plan } = model(filters, of);
        if (plan.remove) t.true(whole.remove);
        else t.deepEqual(shown(whole), listed(plan));
      },
    ),
    { numRuns: runs(500) },
  );
});

test('a long body and many expressions leave turns to other work', async (t) => {
  const rows = ['a+b', '(x|y)*z', 'q'].map((matches, i) => ({
    ...rowOf(NO_CHOICE, i),
    matches,
    bodyContains: 'needle',
  }));
  let turns = 0;
  const count = () => {
    turns++;
    return !isDone && setImmediate(count);
  };
  let isDone = false;
  setImmediate(count);
  const body = await searchBody({ text: `${'hay '.repeat(300_000)}needle`, isWhole: true }, 's', rows);
  isDone = true;
  t.is(body.texts.get('needle'), true);
  t.deepEqual([...body.patterns.values()], [false, false, false]);
  t.true(turns >= 6, `${turns} turns`);
});

const NO_CHOICE: Chosen = {
  ...{ isEnabled: true, fromAddressContains: null, toContains: null, ccContains: null, subjectContains: null },
  ...{ bodyContains: null, field: null, listId: null, minSizeBytes: null, maxSizeBytes: null, matches: null },
  ...{ markAsRead: null, flag: null, assignLabelId: null, moveToFolderId: null, delete: null, stop: null },
};
