// Reads what changed in a folder from its owner: pages of the query `folderChanges`, decoded.

import { type Mailboxes, unpackFlags, unpackModseqs, unpackUids } from '../../../actors/mailbox/protocol.js';
import { eventLoop } from '../../../net/tcp/event-loop.js';

const NO_KEYWORDS: readonly string[] = [];

/** Messages of one page, ascending by UID, and the UIDs that are gone. */
export interface ChangesPage {
  readonly uids: Uint32Array;
  /** Bits of mail/flags and `DELETED_BIT`. */
  readonly flags: Uint16Array;
  readonly modseqs: Float64Array;
  readonly hasKeywords: boolean;
  keywordsOf(uid: number): readonly string[];
  readonly expunged: Uint32Array;
}

export interface OwnerChanges {
  readonly folderId: string;
  readonly uidValidity: number;
  readonly uidNext: number;
  /** HIGHESTMODSEQ when the first page was read; after more than one page, ask again for changes since. */
  readonly modseq: number;
  readonly isWhole: boolean;
  readonly pages: readonly ChangesPage[];
}

export interface ChangesQuestion {
  readonly accountId: string;
  /** Id or role. */
  readonly folderId: string;
  /** null asks for everything. */
  readonly since: number | null;
  /** Messages per page; the owner's own bound when absent. */
  readonly pageSize?: number | undefined;
}

type Mailbox = Pick<ReturnType<Mailboxes['of']>, 'ask'>;

/** Returns undefined when there is no such folder. @throws ActorFault */
export async function readChanges(mailbox: Mailbox, question: ChangesQuestion): Promise<OwnerChanges | undefined> {
  for (;;) {
    const changes = await readPages(mailbox, question);
    if (changes !== 'mixed') return changes;
  }
}

/** Returns `mixed` when a later page is of another kind than the first, as when a new owner knows less about expunges. */
async function readPages(
  mailbox: Mailbox,
  { accountId, folderId: asked, since, pageSize: limit }: ChangesQuestion,
): Promise<OwnerChanges | 'mixed' | undefined> {
  const pages: ChangesPage[] = [];
  let first: { folderId: string; modseq: number; uidValidity: number; isWhole: boolean } | undefined;
  let fromUid = 1;
  for (;;) {
    const { reply } = await mailbox.ask('folderChanges', {
      folderId: first?.folderId ?? asked,
      since,
      fromUid,
      ...(limit !== undefined && { limit }),
    });
    if (reply === undefined) return undefined;
    first ??= reply;
    if (reply.isWhole !== first.isWhole || reply.uidValidity !== first.uidValidity) return 'mixed';
    pages.push(decoded(reply));
    if (reply.nextUid === null) {
      const { folderId, modseq, uidValidity, isWhole } = first;
      return { folderId, modseq, uidValidity, isWhole, uidNext: reply.uidNext, pages };
    }
    fromUid = reply.nextUid;
    await eventLoop.yield(accountId);
  }
}

function decoded(reply: {
  readonly uids: string;
  readonly flags: string;
  readonly modseqs: string;
  readonly keywords: readonly { readonly names: readonly string[]; readonly uids: string }[];
  readonly expunged: string;
}): ChangesPage {
  const keywords = new Map<number, readonly string[]>();
  for (const { names, uids } of reply.keywords) for (const uid of unpackUids(uids)) keywords.set(uid, names);
  return {
    uids: unpackUids(reply.uids),
    flags: unpackFlags(reply.flags),
    modseqs: unpackModseqs(reply.modseqs),
    hasKeywords: keywords.size > 0,
    keywordsOf: (uid) => keywords.get(uid) ?? NO_KEYWORDS,
    expunged: unpackUids(reply.expunged),
  };
}
