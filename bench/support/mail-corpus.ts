// Messages for benchmarks of mailboxes: a text and an HTML alternative whose words are as frequent as in a language, from a few hundred
// people, in threads. The same number always gives the same message.
import { wordOf } from './large-store.js';

const PEOPLE = 200;
const THREAD = 5;
const VOCABULARY = 20_000;
const SENTENCE = 12;
/** The approximate octets of header, boundaries and markup. */
const FRAME_OCTETS = 1_700;
const START = Date.UTC(2026, 0, 1);

export const personOf = (n: number): string => `${wordOf(400 + (n % PEOPLE))}.${wordOf(700 + ((n * 7) % PEOPLE))}`;
/** Returns a word that only one of the messages has in its body. */
export const rareWordOf = (n: number): string => `rare${n}x`;
/** Two adjacent words in the body of every hundredth message. */
export const PHRASE = 'zebra quartz';

export function corpusMessage(n: number, octets: number): Buffer {
  const words = wordsOf(n);
  const root = n - (n % THREAD);
  const person = personOf(n);
  const date = new Date(START + n * 60_000).toUTCString().replace('GMT', '+0000');
  const subject = `${n === root ? '' : 'Re: '}${wordsOf(root).slice(0, 6).join(' ')}`;
  const each = Math.max(200, Math.floor((octets - FRAME_OCTETS) / 2));
  let text = `Message ${rareWordOf(n)}${n % 100 === 0 ? ` ${PHRASE}` : ''}.\r\n`;
  for (let at = 0; text.length < each; at += SENTENCE) {
    text += `${Array.from({ length: SENTENCE }, (_, i) => words[(at + i) % words.length]).join(' ')}.\r\n`;
  }
  const html = `<html><body>\r\n${text.replaceAll('\r\n', '<br>\r\n').slice(0, each)}\r\n</body></html>\r\n`;
  const references = Array.from({ length: n - root }, (_, i) => `<${root + i}@corpus.test>`);
  const boundary = `=_part_${n}_of_corpus`;
  const lines = [
    `Return-Path: <${person}@corpus.test>`,
    `Received: from relay-${n % 7}.corpus.test (relay-${n % 7}.corpus.test [192.0.2.${n % 250}])`,
    `\tby mx.example.test (Postfix) with ESMTPS id ${n.toString(16).toUpperCase().padStart(11, '4')}`,
    `\tfor <user@example.test>; ${date}`,
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=corpus.test; s=s1; h=from:to:subject:date;',
    `\tbh=${'b'.repeat(43)}=; b=${'a'.repeat(60)}`,
    `\t${'c'.repeat(70)}==`,
    `From: ${person.replace('.', ' ')} <${person}@corpus.test>`,
    `To: User <user@example.test>, ${personOf(n + 3)}@corpus.test`,
    ...(n % 3 === 0 ? [`Cc: "${personOf(n + 11).replace('.', ', ')}" <${personOf(n + 11)}@corpus.test>`] : []),
    `Subject: ${subject}`,
    `Date: ${date}`,
    `Message-ID: <${n}@corpus.test>`,
    ...(n === root ? [] : [`In-Reply-To: <${n - 1}@corpus.test>`, `References: ${references.join('\r\n\t')}`]),
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 7bit',
    '',
    text,
    `--${boundary}`,
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: 7bit',
    '',
    html,
    `--${boundary}--`,
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}

function wordsOf(n: number): string[] {
  return Array.from({ length: 80 }, (_, i) => wordOf(zipf(n * 80 + i)));
}

function zipf(i: number): number {
  const random = ((Math.imul(i + 1, 2_654_435_761) >>> 0) % 1_000_003) / 1_000_003;
  return Math.floor(VOCABULARY ** random) - 1;
}
