// The mailbox in memory: what its actor knows without asking the store. Evolves only by changes that are committed.
import type {
  ClaimedAccount,
  FolderRole,
  MailboxChange,
  MailboxStore,
  RememberedReply,
} from '../../store/mailboxes.js';
import type { Loaded } from '../runtime/behavior.js';
import { EmailColumns } from './email-columns.js';
import { FolderColumns } from './folder-columns.js';

/** Deliveries remembered in memory, to answer a repeated one without asking the store. */
const REMEMBERED_DELIVERIES = 1_000;
/** Replies remembered in memory: of more commands than may be on their way a second time. */
const REMEMBERED_REPLIES = 1_000;
const WORN_SLOTS = 50_000;
const REHEARSALS = 6;
const NOBODY = '00000000-0000-0000-0000-000000000000';

export class MailboxState {
  readonly accountId: string;
  readonly held: boolean;
  modseq: number;
  readonly emails = new EmailColumns();
  readonly folders = new Map<string, FolderColumns>();
  /** Inbound ids whose delivery is known to be done. */
  readonly delivered = new Set<string>();

  readonly #replies = new Map<string, RememberedReply>();

  constructor(accountId: string, account: ClaimedAccount) {
    this.accountId = accountId;
    this.held = account.held;
    this.modseq = account.modseq;
  }

  folderOf(role: Exclude<FolderRole, 'label'>): FolderColumns {
    for (const folder of this.folders.values()) {
      if (folder.row.role === role) return folder;
    }
    throw new Error(`account ${this.accountId} has no ${role} folder`);
  }

  get octets(): number {
    let octets = this.emails.octets;
    for (const folder of this.folders.values()) octets += folder.octets;
    return octets;
  }

  get isWorn(): boolean {
    return this.emails.dead > WORN_SLOTS && this.emails.dead * 2 > this.emails.size;
  }

  rememberDelivered(inboundIds: Iterable<string>): void {
    for (const id of inboundIds) this.delivered.add(id);
    for (const id of this.delivered) {
      if (this.delivered.size <= REMEMBERED_DELIVERIES) break;
      this.delivered.delete(id);
    }
  }

  rememberReplies(replies: readonly RememberedReply[]): void {
    for (const reply of replies) this.#replies.set(reply.id, reply);
    for (const id of this.#replies.keys()) {
      if (this.#replies.size <= REMEMBERED_REPLIES) break;
      this.#replies.delete(id);
    }
  }

  recall(id: string): RememberedReply | undefined {
    return this.#replies.get(id);
  }

  /** Takes a committed change in. */
  evolve(change: MailboxChange): void {
    for (const email of change.emailsAdded) {
      this.emails.append(email.id, email.flags, email.receivedAt, email.modseq);
    }
    for (const email of change.emailsFlagged) {
      this.emails.setFlags(this.emails.find(email.id), email.flags, email.modseq);
    }
    for (const placement of change.placed) {
      this.folders.get(placement.folderId)!.place(this.emails.find(placement.emailId), placement.uid);
    }
    const removed = new Set(change.emailsRemoved.map((id) => this.emails.find(id)));
    if (removed.size > 0) {
      for (const folderId of new Set(change.unplaced.map((row) => row.folderId))) {
        this.folders.get(folderId)!.unplace(removed);
      }
      for (const slot of removed) this.emails.kill(slot);
    }
    for (const row of change.folders) {
      const folder = this.folders.get(row.id)!;
      folder.row = { ...folder.row, ...row };
    }
    this.modseq = change.modseqAfter;
    this.rememberDelivered(change.inbound);
    this.rememberReplies(change.remembered);
  }
}

/** Claims the account and loads its mailbox. */
export async function loadMailbox(
  store: MailboxStore,
  accountId: string,
  epoch: number,
): Promise<Loaded<MailboxState>> {
  const account = await store.claim(accountId, epoch);
  if (account.kind !== 'claimed') return account;
  const state = new MailboxState(accountId, account);
  for await (const page of store.emails(accountId)) state.emails.load(page);
  for (const row of await store.folders(accountId)) {
    const folder = new FolderColumns(row, state.emails);
    if (row.total > 0) {
      for await (const page of store.placements(accountId, row.id)) folder.load(page);
      folder.sort();
    }
    state.folders.set(row.id, folder);
  }
  state.rememberReplies(await store.remembered(accountId));
  return { kind: 'loaded', state };
}

/**
 * Loads a mailbox that does not exist, several times at once: whoever is given mailboxes right after its start has open
 * connections and prepared statements then.
 */
export async function rehearseLoading(store: MailboxStore): Promise<void> {
  const load = async () => {
    await store.claim(NOBODY, 0);
    await store.folders(NOBODY);
    for await (const _ of store.emails(NOBODY));
    for await (const _ of store.placements(NOBODY, NOBODY));
    await store.remembered(NOBODY);
  };
  await Promise.all(Array.from({ length: REHEARSALS }, load));
}
