// Makes a segment of the texts of some emails: it splits them into words, collects their positions, sorts them by word and writes
// them.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PackedIds } from '../../mail-format/packed-ids.js';
import { Tokenizer } from '../../mail-format/words/tokenizer.js';
import type { IndexedEmail, IndexedTexts } from '../search.js';
import { BODY_POSITION, type IndexPage, type Segment } from './index-page.js';
import { PageWriter } from './page-writer.js';
import { GAP, Postings } from './postings.js';

/** At most this many words of a field are indexed. */
const FIELD_WORDS = 60_000;
/** Octets that are split at once; an attacker can choose characters that each become four words. */
const PIECE = 8 * 1024;
/** Octets that are split in one turn of the event loop, or octets of their words: 1 ms of work. */
const MOST_CUT = 32 * 1024;
/** Postings that are written in one turn, and those that are sorted in one turn. */
const MOST_AT_ONCE = 10_000;
const MOST_PLACED = 100_000;

/** Reusable objects. Concurrent calls use separate ones. */
interface Tools {
  readonly tokenizer: Tokenizer;
  readonly postings: Postings;
  readonly writer: PageWriter;
  /** Buffer for the octets of a text. */
  source: Buffer;
  /** Octets since the event loop had a turn, or those of their words where these are more. */
  cut: number;
}

/** A UTF-16 unit has at most this many octets in UTF-8. */
const LONGEST_CHARACTER = 3;
const FIRST_OCTETS = 64 * 1024;
/** Larger buffers are released. */
const KEPT_OCTETS = 256 * 1024;

const spare: Tools[] = [];
const MOST_SPARE = 2;

/** `emails`: at least one, all of one account. */
export async function segmentOf(emails: readonly IndexedEmail[]): Promise<Segment> {
  return segmentWith(emails, await pagesOf(emails.map(({ texts }) => texts)));
}

/** `pages`: made from the texts of the emails. */
export function segmentWith(emails: readonly IndexedEmail[], pages: readonly IndexPage[]): Segment {
  const ids = emails.map(({ id }) => id);
  return { ids: PackedIds.of(ids).octets, emails: ids.length, lastId: ids.toSorted().at(-1)!, pages };
}

/** Makes pages of the texts. Yields to the event loop between stretches of work. */
export async function pagesOf(texts: readonly IndexedTexts[]): Promise<readonly IndexPage[]> {
  const tools = spare.pop() ?? newTools();
  const { postings, writer } = tools;
  await collect(texts, tools);
  const sorting = postings.sort();
  let sorted = sorting.next();
  for (; sorted.done !== true; sorted = sorting.next()) await nextTurn();
  const words = sorted.value;
  for (let from = 0; from < postings.length; from += MOST_PLACED) {
    if (words.length > MOST_AT_ONCE || from > 0) await nextTurn();
    postings.place(from, Math.min(from + MOST_PLACED, postings.length));
  }
  for (let from = 0; from < words.length; ) {
    from = writeWords(writer, postings, words, from);
    if (from < words.length) await nextTurn();
  }
  writer.end();
  const pages = writer.ready.splice(0);
  if (postings.isReusable && spare.length < MOST_SPARE) spare.push(tools);
  return pages;
}

const newTools = (): Tools => ({
  tokenizer: new Tokenizer(),
  postings: new Postings(),
  writer: new PageWriter(),
  source: Buffer.allocUnsafeSlow(FIRST_OCTETS),
  cut: 0,
});

async function collect(texts: readonly IndexedTexts[], tools: Tools): Promise<void> {
  const { tokenizer, postings } = tools;
  postings.clear();
  for (const [docId, { subject, sender, recipients, attachments, body }] of texts.entries()) {
    postings.beginEmail(docId);
    for (const [first, ...fields] of [
      [1, subject, sender, recipients],
      [BODY_POSITION, attachments, body],
    ] as const) {
      let position: number = first;
      for (const field of fields) {
        const source = typeof field === 'string' ? octetsOf(field, tools) : field;
        let left = FIELD_WORDS;
        for (let start = 0, end = 0; start < source.length && left > 0; start = end) {
          end = tokenizer.endOfPiece(source, start, PIECE);
          if (tools.cut + end - start > MOST_CUT) {
            await nextTurn();
            tools.cut = 0;
          }
          tokenizer.tokenize(source, start, end, left);
          tools.cut += Math.max(end - start, tokenizer.length);
          postings.add(tokenizer, position, first === BODY_POSITION);
          position += tokenizer.count;
          left -= tokenizer.count;
        }
        position += GAP;
      }
    }
  }
}

/** Returns the octets of a text; they are valid until the next call. */
function octetsOf(text: string, tools: Tools): Buffer {
  if (tools.source.length > KEPT_OCTETS) tools.source = Buffer.allocUnsafeSlow(FIRST_OCTETS);
  const most = LONGEST_CHARACTER * text.length;
  if (tools.source.length < most) tools.source = Buffer.allocUnsafeSlow(most);
  return tools.source.subarray(0, tools.source.write(text));
}

/** Writes a stretch of words. Returns where it ends. */
function writeWords(
  writer: PageWriter,
  { dictionary, docIds, positions, ends }: Postings,
  words: Int32Array,
  first: number,
): number {
  const { octets, starts } = dictionary;
  let i = first;
  let at = first === 0 ? 0 : ends[words[first - 1]!]!;
  for (const most = at + MOST_AT_ONCE; i < words.length && at < most; i++) {
    const word = words[i]!;
    const end = ends[word]!;
    if (at === end) continue;
    const start = starts[word]!;
    if (docIds[at] === docIds[end - 1]) {
      writer.wordOfOne(octets, start, starts[word + 1]!, docIds[at]!, positions, at, end);
      at = end;
      continue;
    }
    writer.beginWord(octets, start, starts[word + 1]!);
    while (at < end) {
      const docId = docIds[at]!;
      const from = at;
      do at++;
      while (at < end && docIds[at] === docId);
      writer.posting(docId, positions, from, at);
    }
    writer.endWord();
  }
  return i;
}
