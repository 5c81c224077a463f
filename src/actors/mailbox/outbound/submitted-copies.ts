// Copies in Sent that submission made. The copy that the client itself puts into Sent takes the place of one, once: whether it is
// appended, or copied or moved there from a folder to which the client had appended it (docs/interface/mail.md, "IMAP"). What a
// plan asks for is read from the store before the commands are planned again.
import type { MailboxStore, SubmittedCopy } from '../../../store/mailboxes.js';
import type { OutboundRow } from '../../../store/outbound.js';
import type { MailboxTransaction } from '../transaction.js';

const DAY_MS = 86_400_000;

export interface CopyReads {
  /** By Message-Id, newest first. */
  readonly copies: ReadonlyMap<string, readonly SubmittedCopy[]>;
  /** Message-Ids by email; null for emails that no client has appended, or that have none. */
  readonly appended: ReadonlyMap<string, string | null>;
  /** Rows of the outbound emails of the copies, by id. */
  readonly rows: ReadonlyMap<string, OutboundRow>;
  /** Why something is missing. */
  readonly fault?: unknown;
}

export const NO_COPY_READS: CopyReads = { copies: new Map(), appended: new Map(), rows: new Map() };

/** What a plan needs and does not have. */
export class UnreadCopies {
  readonly messageIds = new Set<string>();
  readonly emailIds = new Set<string>();

  get size(): number {
    return this.messageIds.size + this.emailIds.size;
  }
}

/** What was read before, and what is asked for. Never rejects: the plan of the command that asks fails. */
export async function readCopies(
  store: Pick<MailboxStore, 'submittedCopies' | 'appendedMessageIds' | 'outboundRows'>,
  accountId: string,
  before: CopyReads,
  { messageIds, emailIds }: UnreadCopies,
): Promise<CopyReads> {
  const [copies, appended, rows] = [new Map(before.copies), new Map(before.appended), new Map(before.rows)];
  try {
    const found = emailIds.size === 0 ? new Map() : await store.appendedMessageIds(accountId, [...emailIds]);
    for (const id of emailIds) appended.set(id, found.get(id) ?? null);
    const wanted = [...new Set<string>([...messageIds, ...found.values()])].filter((id) => !copies.has(id));
    const all = wanted.length === 0 ? [] : await store.submittedCopies(accountId, wanted);
    for (const id of wanted) {
      copies.set(
        id,
        all.filter(({ messageId }) => messageId === id),
      );
    }
    const outboundIds = all.flatMap(({ outboundId }) => outboundId ?? []);
    const read = outboundIds.length === 0 ? [] : await store.outboundRows(accountId, outboundIds);
    for (const row of read) rows.set(row.id, row);
    return { ...before, copies, appended, rows };
  } catch (fault) {
    return { ...before, fault };
  }
}

/** The copies that emails of one command take the places of. Chosen before the command changes anything. */
export class ReplacedCopies {
  readonly #tx: MailboxTransaction;
  /** By the position of the email that takes the place. */
  readonly #chosen = new Map<number, number>();
  readonly #taken: Set<number>;

  /** `except`: emails that the command is about, which stay. */
  constructor(tx: MailboxTransaction, except: readonly number[] = []) {
    this.#tx = tx;
    this.#taken = new Set(except);
  }

  /** The email at this position of the command, with this Message-Id, takes the place of the newest copy of the last day, if there is one. */
  choose(position: number, messageId: string | null): void {
    const tx = this.#tx;
    if (messageId === null) return;
    const sentId = tx.folders.rowOf('sent').id;
    for (const emailId of tx.copies.of(messageId)) {
      const slot = tx.find(emailId);
      if (slot < 0 || this.#taken.has(slot) || tx.folders.uid(sentId, slot) === 0) continue;
      if (tx.receivedAt(slot) <= tx.now - DAY_MS) continue;
      this.#taken.add(slot);
      this.#chosen.set(position, slot);
      return;
    }
  }

  /** As `choose`, of emails that were there before: those that a client has appended, and that do not stay where they are. */
  chooseFor(slots: readonly number[]): void {
    slots.forEach((slot, position) => {
      this.choose(position, this.#tx.copies.appendedMessageId(slot));
    });
  }

  /** `slots`: of the emails of the command, which are in Sent now, by their positions. */
  replace(slots: readonly number[]): void {
    for (const [position, copy] of this.#chosen) replaceCopy(this.#tx, copy, slots[position]!);
  }
}

/** The email gets the other folders and labels of the copy, and stands for what was sent. */
function replaceCopy(tx: MailboxTransaction, copy: number, slot: number): void {
  const copyId = tx.id(copy);
  for (const folderId of tx.folders.holding(copy)) {
    if (tx.folders.uid(folderId, slot) !== 0) continue;
    tx.place([slot], folderId);
    if (tx.isDeleted(copy, folderId)) tx.setDeleted([slot], folderId, true);
  }
  tx.remove([copy]);
  const row = tx.copies.outboundOf(copyId);
  if (row === undefined) return;
  tx.outbound.put({ ...row, emailId: tx.id(slot) }, row, { recipients: [] });
}

/** What a transaction knows of copies. */
export class SubmittedCopies {
  readonly unread = new UnreadCopies();
  readonly #tx: MailboxTransaction;
  readonly #reads: CopyReads;

  constructor(tx: MailboxTransaction, reads: CopyReads) {
    this.#tx = tx;
    this.#reads = reads;
  }

  /** Emails that are copies of the message, newest first, in whatever folder. @throws the fault that kept them from being read */
  of(messageId: string): readonly string[] {
    const added = this.#tx.addedWith(messageId).filter(({ origin }) => origin === 'submitted');
    const stored = this.#reads.copies.get(messageId);
    if (stored === undefined) this.#miss(() => this.unread.messageIds.add(messageId));
    return [...added.map(({ id }) => id), ...(stored ?? []).map(({ emailId }) => emailId)];
  }

  /** Null when no client has appended the email, or it has no Message-Id. @throws the fault that kept it from being read */
  appendedMessageId(slot: number): string | null {
    const emailId = this.#tx.id(slot);
    const added = this.#tx.added(emailId);
    if (added !== undefined) return added.origin === 'appended' ? added.messageId : null;
    const messageId = this.#reads.appended.get(emailId);
    if (messageId === undefined) this.#miss(() => this.unread.emailIds.add(emailId));
    return messageId ?? null;
  }

  /** Of which sent email this is the copy, after the batch so far. */
  outboundOf(emailId: string): OutboundRow | undefined {
    const { outbound } = this.#tx;
    const known = outbound.withEmail(emailId);
    if (known !== undefined) return known;
    for (const read of this.#reads.rows.values()) {
      const row = outbound.written(read.id) ?? read;
      if (row.emailId === emailId && row.status !== 'Draft') return row;
    }
    return undefined;
  }

  #miss(note: () => void): void {
    if (this.#reads.fault !== undefined) throw this.#reads.fault;
    note();
  }
}
