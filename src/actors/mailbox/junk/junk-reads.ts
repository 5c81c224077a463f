// Judges arriving mail by what its account has learnt (decision 0106): a message in memory when its delivery is planned, a stored one before
// that.
import { junkCut, rangesOf } from '../../../mail-format/junk/junk-cut.js';
import { junkTokens, tokensOfMessage } from '../../../mail-format/junk/junk-tokens.js';
import { type JudgingWords, looksLikeJunk } from '../../../mail-format/junk/junk-verdict.js';
import type { BlobContent, BlobStore } from '../../../store/blobs.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { AccountWords } from './mailbox-junk.js';

/** A message that is judged. */
export interface JudgedByWords {
  /** The stored message; null for one in memory. */
  readonly blob: string | null;
  /** The author in canonical form, where the message shows that it comes from there: mail of a contact is no junk. */
  readonly author?: string | undefined;
}

export interface JunkReads {
  readonly words: JudgingWords;
  /** Stored messages that look like junk, by blob. */
  readonly junk: ReadonlySet<string>;
}

export interface JunkSources {
  readonly junk?: { readonly words?: AccountWords | undefined } | undefined;
  readonly blobs: Pick<BlobStore, 'index' | 'read'>;
  readonly store: Pick<MailboxStore, 'hasWrittenTo'>;
}

/** Undefined when nothing is judged. Never rejects: what cannot be read is no junk. */
export function readForJunk(
  sources: JunkSources,
  accountId: string,
  judged: readonly JudgedByWords[],
): JunkReads | undefined | Promise<JunkReads | undefined> {
  if (judged.length === 0 || sources.junk?.words === undefined) return undefined;
  const words = sources.junk.words.of(accountId);
  const stored = judged.filter((message): message is StoredMessage => message.blob !== null);
  if (words instanceof Promise) return words.then((read) => read && judgeStored(sources, accountId, read, stored));
  return words && judgeStored(sources, accountId, words, stored);
}

type StoredMessage = JudgedByWords & { readonly blob: string };

function judgeStored(
  { blobs, store }: JunkSources,
  accountId: string,
  words: JudgingWords,
  stored: readonly StoredMessage[],
): JunkReads | Promise<JunkReads> {
  if (stored.length === 0) return { words, junk: new Set() };
  const isContact = (author: string) => store.hasWrittenTo(accountId, author).catch(() => true);
  const looks = async ({ blob, author }: StoredMessage) => {
    const tokens = await storedTokens(blobs, blob).catch(() => undefined);
    if (tokens === undefined || !looksLikeJunk(tokens, words)) return [];
    return author !== undefined && (await isContact(author)) ? [] : [blob];
  };
  return Promise.all(stored.map(looks)).then((found) => ({ words, junk: new Set(found.flat()) }));
}

/** The tokens of a stored message; undefined when there is no such blob. @throws StoreFault */
export async function storedTokens(blobs: JunkSources['blobs'], blob: string): Promise<Uint32Array | undefined> {
  const index = await blobs.index(blob);
  if (index === undefined) return undefined;
  const cut = junkCut(index);
  const pieces = await Promise.all(rangesOf(cut).map(({ start, end }) => blobs.read(blob, start, end)));
  return junkTokens(index, cut, pieces);
}

/** Whether a message in memory looks like junk; `unstored` when its octets are not in memory. */
export function looksInlineJunk(
  content: Pick<BlobContent, 'index' | 'chunks'>,
  { words }: JunkReads,
): boolean | 'unstored' {
  const { index } = content;
  const pieces = content.chunks();
  if (!(Symbol.iterator in pieces)) return 'unstored';
  const cut = junkCut(index);
  const end = Math.max(...rangesOf(cut).map((range) => range.end));
  return looksLikeJunk(tokensOfMessage(index, cut, startOf(pieces, end)), words);
}

function startOf(pieces: Iterable<Uint8Array>, end: number): Uint8Array {
  const read: Uint8Array[] = [];
  let missing = end;
  for (const piece of pieces) {
    read.push(piece.subarray(0, missing));
    missing -= read.at(-1)!.length;
    if (missing === 0) break;
  }
  return read.length === 1 ? read[0]! : Buffer.concat(read);
}
