// Computes from memory, page by page, what a folder holds and what changed in it after a modseq, and the counters of folders.

import { packFlags, packModseqs, packUids } from '../../../mail-format/packed-columns.js';
import type { Payload, Reply } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { FolderColumns } from '../state/folder-columns.js';
import type { MailboxState } from '../state/state.js';

const MOST_OF_PAGE = 20_000;
/** The most octets of keywords in a page: a reply must fit into a packet. */
const MOST_KEYWORD_OCTETS = 1024 * 1024;

type Changes = Reply<MailboxProtocol, 'folderChanges'>;
type FolderStatus = Reply<MailboxProtocol, 'folderStatus'>['folders'][number];

const NO_UIDS = new Uint32Array(0);
const NOTHING_KNOWN = { uids: NO_UIDS, isComplete: false };
const NOTHING = { uids: '', flags: '', modseqs: '', keywords: [], expunged: '', nextUid: null };

export function changesOf(
  { emails }: Pick<MailboxState, 'emails'>,
  folder: FolderColumns,
  { since, fromUid = 1, limit = MOST_OF_PAGE }: Omit<Payload<MailboxProtocol, 'folderChanges'>, 'folderId'>,
): Changes {
  const { id: folderId, uidValidity, uidNext, highestModseq: modseq, total } = folder.row;
  const head = { folderId, uidValidity, uidNext, modseq, total };
  if (since !== null && modseq <= since) return { ...head, isWhole: false, ...NOTHING };
  const known = since === null ? NOTHING_KNOWN : folder.expungedSince(since);
  const isWhole = !known.isComplete;
  const gone = isWhole ? NO_UIDS : known.uids.subarray(countBelow(known.uids, fromUid));
  for (let most = Math.min(Math.max(limit, 1), MOST_OF_PAGE); ; most = Math.ceil(most / 2)) {
    const page = folder.changedAfter(isWhole ? -1 : since!, fromUid, most);
    const nextUid = Math.min(page.nextUid, gone[most] ?? Number.POSITIVE_INFINITY);
    const count = countBelow(page.uids, nextUid);
    const keywords = emails.keywordSets(page.slots.subarray(0, count));
    if (count > 1 && keywordOctets(keywords) > MOST_KEYWORD_OCTETS) continue;
    return {
      ...head,
      isWhole,
      uids: packUids(page.uids.subarray(0, count)),
      flags: packFlags(page.flags.subarray(0, count)),
      modseqs: packModseqs(page.modseqs.subarray(0, count)),
      keywords: keywords.map(({ names, at }) => ({
        names: [...names],
        uids: packUids(Uint32Array.from(at, (i) => page.uids[i]!)),
      })),
      expunged: packUids(gone.subarray(0, countBelow(gone, nextUid))),
      nextUid: nextUid === Number.POSITIVE_INFINITY ? null : nextUid,
    };
  }
}

export function statusOf(folder: FolderColumns, withSizes: boolean): FolderStatus {
  const { id, name: path, role, uidValidity, uidNext, total, unread, highestModseq: modseq, isSubscribed } = folder.row;
  const counts = { uidValidity, uidNext, total, unread, deleted: folder.deletedCount, modseq, isSubscribed };
  if (!withSizes) return { id, path, role, ...counts };
  const { all, deleted } = folder.sizes();
  return { id, path, role, ...counts, size: all, deletedSize: deleted };
}

/** Returns the number of UIDs in an ascending list that are below this one. */
function countBelow(uids: Uint32Array, uid: number): number {
  let low = 0;
  let high = uids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (uids[middle]! < uid) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keywordOctets(sets: readonly { readonly names: readonly string[] }[]): number {
  let octets = 0;
  for (const { names } of sets) for (const name of names) octets += name.length;
  return octets;
}
