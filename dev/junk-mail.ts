// Generated mail for the junk filter: letters, orders, newsletters, mailing lists and notices that people want, and junk of several kinds.
// Both share many words, and some mail of each kind looks like the other. It is a made-up language: a figure for it says what a change of the
// filter does, not what the filter is worth.

export interface GeneratedMail {
  readonly message: Buffer;
  readonly isJunk: boolean;
}

type Random = () => number;

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const COMMON =
  'the and you for with your this that have from are will not can but all our more about time out new one been they what when there people would which their make like just know take into year good some could them see other than then now look only come over think also back after use two how work first well way even want because any these give day most us please thanks hello order price offer account today click here free best'.split(
    ' ',
  );
const HAM =
  'meeting attached draft project agenda minutes lunch train tickets school invoice shipped delivery tracking release review branch patch build compile kernel maintainer holiday garden kids weekend dinner birthday photos contract budget quarter report team client deadline schedule conference slides paper library recipe neighbour football concert museum repair plumber landlord receipt subscription digest weekly issue editor column article'.split(
    ' ',
  );
const JUNK =
  'viagra casino jackpot winner lottery million transfer beneficiary inheritance confidential urgent guaranteed refinance mortgage credit debt cheap pills pharmacy prescription weight lose miracle replica watches luxury earn income opportunity investment crypto bitcoin profit unlimited click unsubscribe exclusive deal limited bonus claim prize verify suspended password wire western union prince diplomat enlargement singles'.split(
    ' ',
  );

const pick = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)]!;

/** Language repeats itself: texts are made of phrases, of which some are much more frequent than others. */
function phrases(seed: number, count: number, own: readonly string[], share: number): readonly string[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => {
    const length = 3 + Math.floor(random() * 4);
    return Array.from({ length }, () => pick(random, random() < share ? own : COMMON)).join(' ');
  });
}

const COMMON_PHRASES = phrases(1, 600, COMMON, 0);
const HAM_PHRASES = phrases(2, 300, HAM, 0.4);
const JUNK_PHRASES = phrases(3, 300, JUNK, 0.4);

function text(random: Random, count: number, own: readonly string[], share: number): string[] {
  return Array.from({ length: count }, () => {
    const r = random();
    // A long tail of names and rare words.
    if (r > 0.9) return `w${Math.floor(random() ** 3 * 5_000).toString(36)}`;
    const all = r < share ? own : COMMON_PHRASES;
    return all[Math.floor(random() ** 2 * all.length)]!;
  });
}

const sentence = (all: readonly string[]): string => `${all.join(' ').replace(/^./, (c) => c.toUpperCase())}.`;

interface Kind {
  readonly mailer: string;
  readonly isHtml: boolean;
  /** The share of words of its own kind, and of the other kind. */
  readonly own: number;
  readonly other: number;
  readonly senders: number;
}

const HAM_KINDS: readonly Kind[] = [
  { mailer: 'Mail (16.0)', isHtml: false, own: 0.12, other: 0, senders: 40 },
  { mailer: 'Outlook 16', isHtml: true, own: 0.14, other: 0.005, senders: 25 },
  { mailer: 'shop-mailer', isHtml: true, own: 0.12, other: 0.03, senders: 12 },
  { mailer: 'list-server', isHtml: false, own: 0.16, other: 0.01, senders: 8 },
  { mailer: 'newsletter', isHtml: true, own: 0.1, other: 0.04, senders: 10 },
];
const JUNK_KINDS: readonly Kind[] = [
  { mailer: 'The Bat!', isHtml: true, own: 0.16, other: 0, senders: 4_000 },
  { mailer: 'PHPMailer', isHtml: true, own: 0.12, other: 0.01, senders: 4_000 },
  { mailer: 'Outlook 16', isHtml: false, own: 0.14, other: 0.01, senders: 4_000 },
  { mailer: 'newsletter', isHtml: true, own: 0.1, other: 0.02, senders: 400 },
];

/** Yields `count` junk messages and as many others, in turn. */
export function* generatedMail(seed: number, count: number): Generator<GeneratedMail> {
  const random = seeded(seed);
  for (let n = 0; n < count; n++) {
    yield { message: messageOf(random, pick(random, HAM_KINDS), false, n), isJunk: false };
    yield { message: messageOf(random, pick(random, JUNK_KINDS), true, n), isJunk: true };
  }
}

function messageOf(random: Random, kind: Kind, isJunk: boolean, n: number): Buffer {
  const [own, other] = isJunk ? [JUNK_PHRASES, HAM_PHRASES] : [HAM_PHRASES, JUNK_PHRASES];
  const sender = Math.floor(random() * kind.senders);
  const domain = `${isJunk ? 'z' : 'c'}${sender % 500}.test`;
  const lines = Array.from({ length: 3 + Math.floor(random() * 12) }, () => {
    const length = 2 + Math.floor(random() * 4);
    return sentence([...text(random, length, own, 2 * kind.own), ...text(random, 1, other, 4 * kind.other)]);
  });
  const subject = text(random, 2, own, 0.4).join(' ');
  const address = `${isJunk ? 64 + (sender % 120) : 190 + (sender % 20)}.${sender % 200}.${sender % 7}.${1 + Math.floor(random() * 200)}`;
  const link = `https://${isJunk ? `go${Math.floor(random() * 900)}.test` : domain}/${Math.floor(random() * 1e6)}`;
  const html = `<html><body>${lines.map((one) => `<p>${one}</p>`).join('\r\n')}<a href="${link}">${pick(random, own)}</a></body></html>`;
  return Buffer.from(
    [
      `Received: from mail.${domain} (mail.${domain} [${address}]) by mx.example.test; Sun, 29 Nov 2026 10:00:00 +0000`,
      `From: ${pick(random, own).split(' ')[0]} <${pick(random, COMMON)}${sender}@${domain}>`,
      'To: ann@example.test',
      `Subject: ${subject}`,
      `Message-ID: <${n}.${sender}.${Math.floor(random() * 1e9)}@${domain}>`,
      'Date: Sun, 29 Nov 2026 10:00:00 +0000',
      `X-Mailer: ${kind.mailer}`,
      ...(kind.mailer === 'list-server' ? [`List-Id: <list${sender}.${domain}>`] : []),
      'MIME-Version: 1.0',
      `Content-Type: text/${kind.isHtml ? 'html' : 'plain'}; charset=utf-8`,
      '',
      ...(kind.isHtml ? [html] : lines),
      '',
    ].join('\r\n'),
  );
}
