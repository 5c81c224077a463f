// Makes a segment of the words of some emails: the places of the words are collected, sorted by word and written.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PackedIds } from '../../mail/packed-ids.js';
import type { EmailWords } from '../search.js';
import { BODY_POSITION, type Segment } from './index-page.js';
import { MOST_AT_ONCE, Occurrences } from './occurrences.js';
import { PageWriter } from './page-writer.js';

/** No phrase reaches from one field into the next. */
const GAP = 10;
/** Of positions in header fields: they end a gap before those of the body part. */
const HEADER_END = BODY_POSITION - GAP;

/** What is used again. Those who make segments at the same time have one each. */
interface Tools {
  readonly occurrences: Occurrences;
  readonly writer: PageWriter;
}

const spare: Tools[] = [];
const MOST_SPARE = 2;

/** `emails`: of one account, at least one. Yields the event loop between stretches of work. */
export async function segmentOf(emails: readonly EmailWords[]): Promise<Segment> {
  const tools = spare.pop() ?? { occurrences: new Occurrences(), writer: new PageWriter() };
  const { occurrences, writer } = tools;
  occurrences.clear();
  let rested = 0;
  for (let ordinal = 0; ordinal < emails.length; ordinal++) {
    occurrences.beginEmail(ordinal);
    for (const { words, position, end } of fieldsOf(emails[ordinal]!)) {
      for (let from = 0; from < words.length; from += MOST_AT_ONCE) {
        occurrences.add(words, from, Math.min(words.length, from + MOST_AT_ONCE), position, end);
        if (occurrences.length - rested < MOST_AT_ONCE) continue;
        rested = occurrences.length;
        await nextTurn();
      }
    }
  }
  const { words, ends } = occurrences.sort();
  if (words.length > MOST_AT_ONCE) await nextTurn();
  for (let from = 0; from < words.length; ) {
    from = writeWords(writer, occurrences, words, ends, from);
    if (from < words.length) await nextTurn();
  }
  writer.end();
  const pages = writer.ready.splice(0);
  if (occurrences.isReusable && spare.length < MOST_SPARE) spare.push(tools);
  const ids = emails.map(({ id }) => id);
  return {
    ids: PackedIds.of(ids).octets,
    emails: emails.length,
    lastId: ids.toSorted().at(-1)!,
    pages,
  };
}

/** `end`: words from this position on have none. */
function fieldsOf({ subject, sender, recipients, attachments, body }: EmailWords) {
  const senderAt = 1 + subject.length + GAP;
  const recipientsAt = senderAt + sender.length + GAP;
  const bodyAt = BODY_POSITION + attachments.length + GAP;
  return [
    { words: subject, position: 1, end: HEADER_END },
    { words: sender, position: senderAt, end: HEADER_END },
    { words: recipients, position: recipientsAt, end: HEADER_END },
    { words: attachments, position: BODY_POSITION, end: Number.POSITIVE_INFINITY },
    { words: body, position: bodyAt, end: Number.POSITIVE_INFINITY },
  ];
}

/** A stretch of them. Returns where it ends. */
function writeWords(
  writer: PageWriter,
  { vocabulary, ordinals, positions }: Occurrences,
  words: Int32Array,
  ends: Int32Array,
  first: number,
): number {
  const { octets, starts } = vocabulary;
  let i = first;
  let at = first === 0 ? 0 : ends[words[first - 1]!]!;
  for (const most = at + MOST_AT_ONCE; i < words.length && at < most; i++) {
    const word = words[i]!;
    const end = ends[word]!;
    if (at === end) continue;
    const start = starts[word]!;
    if (ordinals[at] === ordinals[end - 1]) {
      writer.wordOfOne(octets, start, starts[word + 1]!, ordinals[at]!, positions, at, end);
      at = end;
      continue;
    }
    writer.beginWord(octets, start, starts[word + 1]!);
    while (at < end) {
      const ordinal = ordinals[at]!;
      const from = at;
      do at++;
      while (at < end && ordinals[at] === ordinal);
      writer.posting(ordinal, positions, from, at);
    }
    writer.endWord();
  }
  return i;
}
