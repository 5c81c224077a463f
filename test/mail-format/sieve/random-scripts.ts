// Random Sieve scripts and messages whose texts are so alike that many tests hold.
//
// Scripts avoid what Pigeonhole does differently: its `?` stands for an octet, and it skips the text between `?` and a later `*`; its
// i;ascii-casemap orders by lower case, where RFC 4790 §9.2.1 says upper case, which only `[ \ ] ^ _` and the backtick show; `header :index` with
// `:count` counts nothing there.
import fc from 'fast-check';

const WORDS = ['sale', 'Sale', 'news', 'NEWS', 'a', 'b', 'ab', 'ba', 'aab', '12', '012', '7', 'x-1', 'Grüße'];
const ADDRESSES = [
  'bob@example.test',
  'Bob+tag@Example.test',
  'carol@example.org',
  'a.b+x+y@sub.example.org',
  'bob@other.test',
];
const FIELDS = ['Subject', 'X-A', 'X-B', 'X-None'];
const ADDRESS_FIELDS = ['From', 'To', 'Cc', 'Reply-To'];
const DATE_PARTS = [
  'year',
  'month',
  'day',
  'date',
  'julian',
  'hour',
  'minute',
  'second',
  'time',
  'iso8601',
  'std11',
  'zone',
  'weekday',
];
const DATES = [
  'Fri, 27 Nov 2026 23:30:00 -0500',
  'Sat, 28 Feb 2026 00:00:01 +0130',
  '1 Jan 2026 05:06:07 +0000',
  'Thu, 31 Dec 2026 23:59:59 -0000',
];

export const EXTENSIONS = [
  'body',
  'comparator-i;ascii-numeric',
  'copy',
  'date',
  'editheader',
  'envelope',
  'fileinto',
  'imap4flags',
  'index',
  'relational',
  'subaddress',
  'variables',
];

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
const list = (texts: readonly string[]): string =>
  texts.length === 1 ? quoted(texts[0]!) : `[${texts.map(quoted).join(', ')}]`;

const word = fc.constantFrom(...WORDS);
const phrase = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));
const variable = fc.constantFrom('one', 'two', '1', '2', '0').map((name) => `\${${name}}`);
const text = fc.oneof(
  { weight: 3, arbitrary: phrase },
  { weight: 1, arbitrary: fc.tuple(phrase, variable).map((both) => both.join('')) },
);
const address = fc.constantFrom(...ADDRESSES);
const wild = fc
  .array(fc.oneof(fc.constantFrom('*', 'a', 'b', 'e', ' ', 'S', '2'), word), { minLength: 1, maxLength: 5 })
  .map((pieces) => pieces.join(''));
const masked = fc.constantFrom('???', '?a?e', 's?le', 'n??s', '1?', '?', 'bob@example.????');
const relation = fc.constantFrom('gt', 'ge', 'lt', 'le', 'eq', 'ne');
const zone = fc.constantFrom('', ':zone "+0100" ', ':zone "-0930" ', ':originalzone ');

interface Matching {
  readonly tags: string;
  readonly keys: string;
}

/** A match type with its comparator and keys. */
function matching(key: fc.Arbitrary<string>): fc.Arbitrary<Matching> {
  const keys = fc.array(key, { minLength: 1, maxLength: 2 }).map(list);
  const comparator = fc.constantFrom('', ':comparator "i;octet"', ':comparator "i;ascii-casemap"');
  const numeric = ':comparator "i;ascii-numeric"';
  const patterns = fc.array(fc.oneof(wild, masked), { minLength: 1, maxLength: 2 }).map(list);
  const counts = fc.constantFrom('0', '1', '2', '3').map(quoted);
  return fc.oneof(
    fc
      .tuple(fc.constantFrom('', ':is', ':contains'), comparator, keys)
      .map(([type, by, keys]) => ({ tags: `${type} ${by}`, keys })),
    fc.tuple(comparator, patterns).map(([by, keys]) => ({ tags: `:matches ${by}`, keys })),
    fc
      .tuple(relation, fc.oneof(comparator, fc.constant(numeric)), keys)
      .map(([relation, by, keys]) => ({ tags: `:value "${relation}" ${by}`, keys })),
    fc.tuple(relation, counts).map(([relation, keys]) => ({ tags: `:count "${relation}" ${numeric}`, keys })),
  );
}

/** The tags with a comparator: without one, the `string` of Pigeonhole takes i;octet, where RFC 5228 §2.7.3 says i;ascii-casemap. */
const compared = (tags: string): string =>
  tags.includes(':comparator') ? tags : `${tags} :comparator "i;ascii-casemap"`;

const names = (all: readonly string[]) =>
  fc.uniqueArray(fc.constantFrom(...all), { minLength: 1, maxLength: 2 }).map(list);
const index = fc.constantFrom('', '', ':index 1', ':index 2', ':index 1 :last', ':index 2 :last');
const part = fc.constantFrom('', ':all', ':localpart', ':domain', ':user', ':detail');
const addressKey = fc.oneof(
  address,
  fc.constantFrom('bob', 'example.test', 'tag', 'x+y', 'example.org', 'a.b', 'Example'),
);
const flag = fc.constantFrom('\\Seen', '\\Flagged', 'work', 'Work', 'a b', '$x');

const simple: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(index, matching(text), names(FIELDS))
    .map(([index, { tags, keys }, names]) => `header ${tags.includes(':count') ? '' : index} ${tags} ${names} ${keys}`),
  fc
    .tuple(index, part, matching(addressKey), names(ADDRESS_FIELDS))
    .map(([index, part, { tags, keys }, names]) => `address ${index} ${part} ${tags} ${names} ${keys}`),
  fc
    .tuple(part, matching(addressKey), names(['from', 'to']))
    .map(([part, { tags, keys }, names]) => `envelope ${part} ${tags} ${names} ${keys}`),
  names([...FIELDS, ...ADDRESS_FIELDS]).map((names) => `exists ${names}`),
  fc
    .tuple(fc.constantFrom(':over', ':under'), fc.integer({ min: 100, max: 400 }))
    .map(([side, size]) => `size ${side} ${size}`),
  fc
    .tuple(fc.array(text, { minLength: 1, maxLength: 2 }).map(list), matching(text))
    .map(([values, { tags, keys }]) => `string ${compared(tags)} ${values} ${keys}`),
  matching(flag).map(({ tags, keys }) => `hasflag ${tags} ${keys}`),
  fc
    .tuple(
      zone,
      index,
      fc.constantFrom(...DATE_PARTS),
      matching(fc.constantFrom('2026', '11', '27', '05', '2026-11-28', '23:30:00', '-0500', '5')),
    )
    .map(([zone, index, part, { tags, keys }]) => `date ${zone} ${index} ${tags} "date" "${part}" ${keys}`),
  fc
    .tuple(
      fc.constantFrom('', ':raw', ':text', ':content "text"', ':content ["", "image"]', ':content "image/png"'),
      fc.constantFrom(':contains', ':is', ':matches'),
      text,
    )
    .map(([transform, type, key]) => `body ${transform} ${type} ${quoted(type === ':matches' ? `*${key}*` : key)}`),
);

const check: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: simple },
  { weight: 1, arbitrary: simple.map((test) => `not ${test}`) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('allof', 'anyof'), fc.array(simple, { minLength: 1, maxLength: 3 }))
      .map(([kind, tests]) => `${kind} (${tests.join(', ')})`),
  },
);

const modifier = fc.constantFrom(
  '',
  '',
  ':lower',
  ':upper',
  ':upperfirst',
  ':lowerfirst',
  ':quotewildcard',
  ':lower :upperfirst',
  ':length',
);

/** Commands that change what later tests see. */
const change: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(modifier, fc.constantFrom('one', 'two'), text)
    .map(([modifier, name, text]) => `set ${modifier} "${name}" ${quoted(text)};`),
  fc
    .tuple(
      fc.constantFrom('setflag', 'addflag', 'removeflag'),
      fc.array(flag, { minLength: 1, maxLength: 2 }).map(list),
    )
    .map(([command, flags]) => `${command} ${flags};`),
  fc
    .tuple(fc.constantFrom('', ':last'), fc.constantFrom(...FIELDS), phrase)
    .map(([last, name, value]) => `addheader ${last} "${name}" ${quoted(value)};`),
  fc
    .tuple(fc.constantFrom('', ':index 1', ':index 1 :last'), fc.constantFrom(...FIELDS), fc.option(wild))
    .map(([index, name, key]) =>
      key === null ? `deleteheader ${index} "${name}";` : `deleteheader ${index} :matches "${name}" ${quoted(key)};`,
    ),
);

const ending = fc.constantFrom(
  '',
  'keep;',
  'discard;',
  'stop;',
  'keep :flags "\\\\Flagged";',
  'redirect "carol@example.org";',
  'redirect :copy "dora@example.org";',
);

/** A script that files the message into a folder for each test that holds. */
export const script: fc.Arbitrary<string> = fc
  .tuple(fc.array(fc.tuple(fc.option(change, { freq: 1 }), check), { minLength: 1, maxLength: 20 }), ending)
  .map(([checks, ending]) => {
    const lines = checks.flatMap(([change, check], i) => [change ?? '', `if ${check} { fileinto :copy "t${i}"; }`]);
    return [`require ${list(EXTENSIONS)};`, ...lines, ending].filter((line) => line !== '').join('\n');
  });

const field = (name: string, value: fc.Arbitrary<string>) => value.map((text) => `${name}: ${text}`);
const encoded = phrase.map((text) =>
  /^[ -~]*$/.test(text) ? text : `=?utf-8?b?${Buffer.from(text).toString('base64')}?=`,
);
const mailbox = fc.oneof(
  address,
  address.map((text) => `"Some, One" <${text}>`),
);
const mailboxes = fc.array(mailbox, { minLength: 1, maxLength: 3 }).map((all) => all.join(', '));

/** A message with line feeds alone. */
export const letter: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(fc.oneof(field('Subject', encoded), field('X-A', encoded), field('X-B', encoded)), { maxLength: 5 }),
    fc.array(fc.oneof(field('To', mailboxes), field('Cc', mailboxes), field('Reply-To', mailboxes)), { maxLength: 3 }),
    fc.constantFrom(...DATES),
    fc.array(
      phrase.filter((text) => /^[ -~]*$/.test(text)),
      { maxLength: 3 },
    ),
  )
  .map(([fields, recipients, date, lines]) =>
    ['From: carol@example.org', ...fields, ...recipients, `Date: ${date}`, '', ...lines, ''].join('\n'),
  );
