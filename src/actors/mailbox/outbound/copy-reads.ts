// What a transaction knows of the copies in Sent that submission made, and of emails that a client appended: from the batch, and
// read from the store when the plan asks. Then the commands are planned again.
import type { NewEmail } from '../../../store/changes.js';
import type { MailboxStore, SubmittedCopy } from '../../../store/mailboxes.js';
import type { OutboundRow } from '../../../store/outbound.js';
import type { OutboundChanges } from './changes.js';

export interface CopyReads {
  /** The key is the Message-Id; the newest comes first. */
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

/** The transaction, after the batch so far. */
interface Batch {
  readonly outbound: Pick<OutboundChanges, 'withEmail' | 'written'>;
  id(slot: number): string;
  added(emailId: string): NewEmail | undefined;
  addedWith(messageId: string): readonly NewEmail[];
}

/** What a transaction knows of copies. */
export class SubmittedCopies {
  readonly unread = new UnreadCopies();
  readonly #batch: Batch;
  readonly #reads: CopyReads;

  constructor(batch: Batch, reads: CopyReads) {
    this.#batch = batch;
    this.#reads = reads;
  }

  /** Emails that are copies of the message, newest first, in whatever folder. @throws the fault that kept them from being read */
  of(messageId: string): readonly string[] {
    const added = this.#batch.addedWith(messageId).filter(({ origin }) => origin === 'submitted');
    const stored = this.#reads.copies.get(messageId);
    if (stored === undefined) this.#miss(() => this.unread.messageIds.add(messageId));
    return [...added.map(({ id }) => id), ...(stored ?? []).map(({ emailId }) => emailId)];
  }

  /** Null when no client has appended the email, or it has no Message-Id. @throws the fault that kept it from being read */
  appendedMessageId(slot: number): string | null {
    const emailId = this.#batch.id(slot);
    const added = this.#batch.added(emailId);
    if (added !== undefined) return added.origin === 'appended' ? added.messageId : null;
    const messageId = this.#reads.appended.get(emailId);
    if (messageId === undefined) this.#miss(() => this.unread.emailIds.add(emailId));
    return messageId ?? null;
  }

  /** Says of which sent email this is the copy, after the batch so far. */
  outboundOf(emailId: string): OutboundRow | undefined {
    const { outbound } = this.#batch;
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
