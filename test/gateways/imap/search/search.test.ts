// Compares searches, every key alone and in any combination over generated mailboxes, with an evaluation that looks at each
// message on its own.

import fc from 'fast-check';
import type { CalendarDay, SearchKey } from '../../../../src/gateways/imap/grammar/search.js';
import { LAST } from '../../../../src/gateways/imap/grammar/sequence-set.js';
import { flagBit } from '../../../../src/mail-format/flags.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { emailIdOf, type MadeMessage, searchedMailbox, threadIdOf } from './searched-messages.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2024, 1, 27);
const NOW = START + 4 * DAY_MS;

/** The generated parts of a message; `raw` and `body` are built from them. */
interface Parts {
  readonly from: string;
  readonly to: string | null;
  readonly subject: string | null;
  readonly extra: string | null;
  readonly body: string;
  readonly encoding: 'plain' | 'base64' | 'quoted-printable' | 'html' | 'multipart';
  /** Hours after START, and the time zone in hours. */
  readonly sent: { readonly hours: number; readonly zone: number } | null;
  readonly facts: Omit<MadeMessage, 'uid' | 'raw' | 'body'>;
}

const two = (value: number): string => String(value).padStart(2, '0');

function dateField({ hours, zone }: NonNullable<Parts['sent']>): string {
  const local = new Date(START + (hours + zone) * 3_600_000);
  const month = ['Jan', 'Feb', 'Mar'][local.getUTCMonth()];
  const sign = zone < 0 ? '-' : '+';
  return `${local.getUTCDate()} ${month} 2024 ${two(local.getUTCHours())}:00:00 ${sign}${two(Math.abs(zone))}00`;
}

const encodedWord = (text: string): string =>
  /^[ -~]*$/.test(text) ? text : `=?utf-8?b?${Buffer.from(text).toString('base64')}?=`;

function bodyLines(body: string, encoding: Parts['encoding']): string[] {
  const octets = Buffer.from(body);
  if (encoding === 'base64')
    return [
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      octets.toString('base64'),
    ];
  if (encoding === 'quoted-printable') {
    const quoted = [...octets].map((octet) => `=${octet.toString(16).toUpperCase().padStart(2, '0')}`).join('');
    return ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable', '', quoted];
  }
  if (encoding === 'html')
    return [
      'Content-Type: text/html; charset=utf-8',
      '',
      `<html><head><title>zzz</title></head><p>${octets.toString('latin1')}</p>`,
    ];
  if (encoding === 'multipart')
    return [
      'Content-Type: multipart/mixed; boundary=frontier',
      '',
      '--frontier',
      ...bodyLines(body, 'base64'),
      '--frontier',
      'Content-Type: application/octet-stream',
      '',
      'zzz is no text',
      '--frontier--',
    ];
  return ['Content-Type: text/plain; charset=utf-8', '', octets.toString('latin1')];
}

function made(parts: Parts, uid: number): MadeMessage {
  const { from, to, subject, extra, body, encoding, sent, facts } = parts;
  const lines = [
    `From: ${encodedWord(from)} <${uid}@example.org>`,
    ...(to === null ? [] : [`To:\r\n ${encodedWord(to)}`]),
    ...(subject === null ? [] : [`Subject: ${encodedWord(subject)}`]),
    ...(extra === null ? [] : [`X-Extra: ${encodedWord(extra)}`]),
    ...(sent === null ? [] : [`Date: ${dateField(sent)}`]),
    ...bodyLines(body, encoding),
  ];
  return { ...facts, uid, raw: lines.join('\r\n'), body };
}

const includes = (text: string, sought: string): boolean =>
  text.normalize('NFKD').toUpperCase().includes(sought.normalize('NFKD').toUpperCase());

const dayNumber = ({ year, month, day }: CalendarDay): number => Date.UTC(year, month - 1, day) / DAY_MS;

/** Says whether one message matches, by its parts. */
function matches(
  key: SearchKey,
  parts: Parts,
  message: MadeMessage,
  seq: number,
  count: number,
  saved: readonly number[],
): boolean {
  const all = (other: SearchKey): boolean => matches(other, parts, message, seq, count, saved);
  switch (key.type) {
    case 'all':
    case 'saveDateSupported':
      return true;
    case 'and':
      return key.keys.every(all);
    case 'or':
      return all(key.left) || all(key.right);
    case 'not':
      return !all(key.key);
    case 'set': {
      if (key.set === '$') return saved.includes(message.uid);
      const highest = key.isByUid ? count * 3 : count;
      const number = key.isByUid ? message.uid : seq;
      return key.set.some(([a, b]) => {
        const [from, to] = [a === LAST ? highest : a, b === LAST ? highest : b];
        return number >= Math.min(from, to) && number <= Math.max(from, to);
      });
    }
    case 'flag': {
      const has =
        key.name.toLowerCase() === '\\deleted'
          ? message.isDeleted
          : (message.flags & flagBit(key.name)) !== 0 ||
            message.keywords.some((name) => name.toLowerCase() === key.name.toLowerCase());
      return has === key.isSet;
    }
    case 'header': {
      const text = { from: parts.from, to: parts.to, subject: parts.subject, 'x-extra': parts.extra }[key.name] ?? null;
      return text !== null && includes(text, key.text);
    }
    case 'body':
      return includes(parts.body, key.text);
    case 'text':
      return [parts.from, parts.to, parts.subject, parts.extra, parts.body].some((text) =>
        includes(text ?? '', key.text),
      );
    case 'larger':
      return message.raw.length > key.octets;
    case 'smaller':
      return message.raw.length < key.octets;
    case 'older':
      return message.receivedAt <= NOW - key.seconds * 1000;
    case 'younger':
      return message.receivedAt >= NOW - key.seconds * 1000;
    case 'modseq':
      return message.modseq >= key.atLeast;
    case 'emailId':
      return emailIdOf(message.uid) === key.id;
    case 'threadId':
      return threadIdOf(message.uid) === key.id;
    case 'day': {
      const { sent } = parts;
      if (key.of === 'sent' && sent === null) return false;
      const ms =
        key.of === 'received'
          ? message.receivedAt
          : key.of === 'saved'
            ? message.savedAt
            : START + (sent!.hours + sent!.zone) * 3_600_000;
      const found = Math.floor(ms / DAY_MS);
      const asked = dayNumber(key.day);
      return key.compare === 'before' ? found < asked : key.compare === 'on' ? found === asked : found >= asked;
    }
  }
}

const texts = fc.constantFrom('', 'alpha', 'Beta gamma', 'GRÜSSE aus', 'x-ray, 42', '東京', 'alp', 'lph', '42', 'ß');
const somebody = fc.constantFrom('Alpha Beta', 'Grüße Aus Wien', 'plain', '東京タワー', 'x-ray, 42 alpha');
const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { nil: null });

const facts = fc.record({
  flags: fc.integer({ min: 0, max: 511 }),
  isDeleted: fc.boolean(),
  keywords: fc.subarray(['Work', 'later', '$custom']),
  modseq: fc.integer({ min: 1, max: 40 }),
  receivedAt: fc.nat(5 * 24).map((hours) => START + hours * 3_600_000),
  savedAt: fc.nat(5 * 24).map((hours) => START + hours * 3_600_000),
  isExpunged: fc.nat(9).map((n) => n === 0),
});
const parts: fc.Arbitrary<Parts> = fc.record({
  from: somebody,
  to: maybe(somebody),
  subject: maybe(somebody),
  extra: maybe(somebody),
  body: fc.constantFrom('alpha beta gamma', 'Grüße aus Wien: x-ray, 42', '東京タワー 42', 'nothing of it', ''),
  encoding: fc.constantFrom('plain', 'base64', 'quoted-printable', 'html', 'multipart'),
  sent: maybe(fc.record({ hours: fc.nat(5 * 24), zone: fc.integer({ min: -11, max: 11 }) })),
  facts,
});

const calendarDay = fc
  .integer({ min: -1, max: 6 })
  .map((days) => new Date(START + days * DAY_MS))
  .map((date) => ({ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }));
const compare = fc.constantFrom('before' as const, 'on' as const, 'since' as const);
/** `count` is the number of messages, so that sets name existing ones. */
const leaf = (count: number): fc.Arbitrary<SearchKey> =>
  fc.oneof(
    fc.constantFrom<SearchKey>(
      { type: 'all' },
      { type: 'saveDateSupported' },
      { type: 'set', set: '$', isByUid: false },
    ),
    fc
      .constantFrom(
        '\\Seen',
        '\\deleted',
        '\\Flagged',
        '\\Answered',
        '\\Draft',
        '$junk',
        'work',
        'LATER',
        '$Custom',
        'none',
      )
      .chain((name) => fc.boolean().map((isSet): SearchKey => ({ type: 'flag', name, isSet }))),
    fc
      .array(
        fc.tuple(
          fc.oneof(fc.integer({ min: 1, max: count + 3 }), fc.constant(LAST)),
          fc.integer({ min: 1, max: count }),
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      )
      .chain((set) => fc.boolean().map((isByUid): SearchKey => ({ type: 'set', set, isByUid }))),
    fc
      .tuple(fc.constantFrom('from', 'to', 'subject', 'x-extra', 'x-none'), texts)
      .map(([name, text]): SearchKey => ({ type: 'header', name, text })),
    fc
      .tuple(fc.constantFrom('body' as const, 'text' as const), texts)
      .map(([type, text]): SearchKey => ({ type, text })),
    fc
      .tuple(fc.constantFrom('larger' as const, 'smaller' as const), fc.integer({ min: 100, max: 400 }))
      .map(([type, octets]): SearchKey => ({ type, octets })),
    fc
      .tuple(fc.constantFrom('older' as const, 'younger' as const), fc.nat(5 * 24))
      .map(([type, hours]): SearchKey => ({ type, seconds: hours * 3600 })),
    fc
      .tuple(fc.constantFrom('received' as const, 'sent' as const, 'saved' as const), compare, calendarDay)
      .map(([of, how, day]): SearchKey => ({ type: 'day', of, compare: how, day })),
    fc.integer({ min: 0, max: 41 }).map((atLeast): SearchKey => ({ type: 'modseq', atLeast })),
    fc.integer({ min: 1, max: 30 }).map((uid): SearchKey => ({ type: 'emailId', id: emailIdOf(uid) })),
    fc.integer({ min: 0, max: 5 }).map((uid): SearchKey => ({ type: 'threadId', id: threadIdOf(uid) })),
  );

const program = (count: number): fc.Arbitrary<SearchKey> =>
  fc.letrec<{ key: SearchKey }>((tie) => ({
    key: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      leaf(count),
      fc.array(tie('key'), { minLength: 1, maxLength: 4 }).map((keys): SearchKey => ({ type: 'and', keys })),
      fc.tuple(tie('key'), tie('key')).map(([left, right]): SearchKey => ({ type: 'or', left, right })),
      tie('key').map((key): SearchKey => ({ type: 'not', key })),
    ),
  })).key;

test('any program finds what each message on its own says', async (t) => {
  const mailbox = fc.array(parts, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      mailbox.chain((all) => fc.tuple(fc.constant(all), fc.array(program(all.length), { minLength: 1, maxLength: 8 }))),
      async ([all, programs]) => {
        const messages = all.map((each, i) => made(each, (i + 1) * 3));
        const { find } = searchedMailbox(messages);
        const saved = messages.filter((_, i) => i % 2 === 0).map(({ uid }) => uid);
        for (const key of programs) {
          const expected = messages.flatMap((message, i) =>
            !message.isExpunged && matches(key, all[i]!, message, i + 1, messages.length, saved) ? i + 1 : [],
          );
          t.deepEqual(await find(key, { saved, now: NOW }), expected, JSON.stringify(key));
        }
      },
    ),
    { numRuns: runs(250) },
  );
});
