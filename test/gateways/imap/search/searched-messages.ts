// Builds a folder of generated messages for searches without a server: a view of them, the source that reads them, their
// bodies, and an index of their words. The parts of each message are known, so a test can say what must be found.
import { createHash } from 'node:crypto';
import type { SearchKey } from '../../../../src/gateways/imap/grammar/search.js';
import { createMessageSource } from '../../../../src/gateways/imap/messages/message-source.js';
import { BodySearch } from '../../../../src/gateways/imap/search/body-search.js';
import { FolderResults } from '../../../../src/gateways/imap/search/folder-results.js';
import { Search } from '../../../../src/gateways/imap/search/search.js';
import { SearchPace } from '../../../../src/gateways/imap/search/search-pace.js';
import type { FolderMirror } from '../../../../src/gateways/imap/view/folder-mirror.js';
import type { FolderView } from '../../../../src/gateways/imap/view/folder-view.js';
import { positionsOf } from '../../../../src/gateways/imap/view/named-positions.js';
import { PositionSet } from '../../../../src/gateways/imap/view/position-set.js';
import type { Output } from '../../../../src/gateways/sessions/output.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { DELETED_BIT } from '../../../../src/mail-format/packed-columns.js';
import { type SearchTerm, wordsOf } from '../../../../src/mail-format/words/search-text.js';

export interface MadeMessage {
  readonly uid: number;
  readonly flags: number;
  readonly isDeleted: boolean;
  readonly keywords: readonly string[];
  readonly modseq: number;
  readonly receivedAt: number;
  readonly savedAt: number;
  /** The message is expunged, and the client does not know it yet. */
  readonly isExpunged: boolean;
  /** The octets of the message; one character is one octet. */
  readonly raw: string;
  /** The body as the source reads it. */
  readonly body: string;
}

export interface SearchedMailbox {
  readonly view: FolderView;
  /** Counts reads of bodies and questions to the index. */
  readonly counts: { bodies: number; index: number };
  search(key: SearchKey, options?: { readonly saved?: readonly number[]; readonly now?: number }): Search;
  /** Returns sequence numbers. */
  find(key: SearchKey, options?: { readonly saved?: readonly number[]; readonly now?: number }): Promise<number[]>;
}

const NO_OUTPUT: Output = { line() {}, write() {}, ready: undefined, flush() {} };

const ACCOUNT = '018f0000-0000-7000-8000-00000000000a';
const FOLDER = 'folder';

export const emailIdOf = (uid: number): string => `email-${uid}`;
export const threadIdOf = (uid: number): string => `thread-${uid % 5}`;

export function searchedMailbox(
  messages: readonly MadeMessage[],
  settings: { readonly isIndexBehind?: boolean; readonly results?: FolderResults } = {},
): SearchedMailbox {
  const byUid = new Map(messages.map((message) => [message.uid, message]));
  const octets = new Map(messages.map(({ raw }) => [hashOf(raw), Buffer.from(raw, 'latin1')]));
  const counts = { bodies: 0, index: 0 };
  const source = createMessageSource({
    maxOctets: 256 * 1024 * 1024,
    store: {
      rows: async (_account, _folder, uids, needs) =>
        uids.flatMap((uid) => {
          const message = byUid.get(uid);
          if (message === undefined || message.isExpunged) return [];
          const raw = Buffer.from(message.raw, 'latin1');
          const index = indexMessage(raw);
          return {
            uid,
            emailId: emailIdOf(uid),
            threadId: threadIdOf(uid),
            blob: hashOf(message.raw),
            size: raw.length,
            receivedAt: message.receivedAt,
            savedAt: message.savedAt,
            preview: '',
            ...(needs.header && { header: raw.subarray(0, index.root.bodyStart) }),
            ...(needs.index && { indexJson: JSON.stringify(index) }),
          };
        }),
    },
  });
  const present = messages.filter(({ isExpunged }) => !isExpunged);
  const uids = Uint32Array.from(messages, ({ uid }) => uid);
  const bitsAt = (index: number) => present[index]!.flags | (present[index]!.isDeleted ? DELETED_BIT : 0);
  const mirror = {
    bitsAt,
    withBit: (bit: number) =>
      PositionSet.withBit(
        Uint16Array.from(present, (_, index) => bitsAt(index)),
        bit,
      ),
    keywordsAt: (index: number) => present[index]!.keywords,
    modseqAt: (index: number) => present[index]!.modseq,
    keywords: new Set(present.flatMap(({ keywords }) => keywords)),
  } as Partial<FolderMirror> as FolderMirror;
  const indexOfUid = new Map(present.map(({ uid }, index) => [uid, index]));
  const view = {
    mirror,
    count: messages.length,
    uids,
    hasExpunged: present.length < messages.length,
    uidAt: (position: number) => uids[position]!,
    indexAt: (position: number) => indexOfUid.get(uids[position]!) ?? -1,
    resolve: (set, isUid, saved) => positionsOf(uids, uids.length, set, isUid, saved),
  } as Partial<FolderView> as FolderView;
  const blobs = {
    readAll: async (hashes: readonly string[]) => {
      counts.bodies += hashes.length;
      return new Map(hashes.map((hash) => [hash, octets.get(hash)!]));
    },
    readRanges: async (hash: string, ranges: readonly { readonly start: number; readonly end: number }[]) => {
      counts.bodies++;
      return ranges.map(({ start, end }) => octets.get(hash)!.subarray(start, end));
    },
  };
  const byWords = async (term: SearchTerm) => {
    if (settings.isIndexBehind) return undefined;
    counts.index++;
    return Uint32Array.from(present.filter(({ body }) => hasTerm(body, term)).map(({ uid }) => uid));
  };
  const results = settings.results ?? new FolderResults(1e6);
  const search: SearchedMailbox['search'] = (key, { saved = [], now = 0 } = {}) => {
    const pace = new SearchPace({ accountId: 'account', output: NO_OUTPUT, tag: 'tag', connection: { isLost: false } });
    return new Search(key, {
      folder: { accountId: ACCOUNT, folderId: FOLDER },
      view,
      saved,
      messages: source,
      bodies: () => new BodySearch({ accountId: ACCOUNT, blobs, pace, byWords }),
      results,
      pace,
      now,
    });
  };
  return {
    view,
    counts,
    search,
    find: async (key, options) =>
      [...(await search(key, options).matches()).positions()].map((position) => position + 1),
  };
}

/** Finds words as the search index does: in order, the last one as the start of a word. */
function hasTerm(text: string, { words, prefix }: SearchTerm): boolean {
  const all = wordsOf(text);
  return all.some((_, at) =>
    words.every((word, i) => {
      const there = all[at + i] ?? '';
      return prefix && i === words.length - 1 ? there.startsWith(word) : there === word;
    }),
  );
}

const hashOf = (raw: string): string => createHash('sha256').update(raw, 'latin1').digest('hex');
