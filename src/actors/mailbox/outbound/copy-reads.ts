// The copies in Sent that submission made, and the emails that clients appended, as a transaction knows them: from the batch, and from the
// store when the plan needs more. After such a read the commands are planned again.
import type { NewEmail } from '../../../store/changes/changes.js';
import type { MailboxStore, SubmittedCopy } from '../../../store/mailboxes.js';
import type { OutboundRow } from '../../../store/outbound.js';
import type { OutboundChanges } from './changes.js';

export interface CopyReads {
  /** Keyed by Message-Id; newest first. */
  readonly copies: ReadonlyMap<string, readonly SubmittedCopy[]>;
  /** Message-Ids by email id; null when no client has appended the email, or when it has no Message-Id. */
  readonly appended: ReadonlyMap<string, string | null>;
  /** Rows of the outbound emails of the copies, by id. */
  readonly rows: ReadonlyMap<string, OutboundRow>;
  /** The reason why something is missing. */
  readonly fault?: unknown;
}

export const NO_COPY_READS: CopyReads = { copies: new Map(), appended: new Map(), rows: new Map() };

/** Ids that a plan needs and that were not read. */
export class UnreadCopies {
  readonly messageIds = new Set<string>();
  readonly emailIds = new Set<string>();

  get size(): number {
    return this.messageIds.size + this.emailIds.size;
  }
}

/** Adds the requested reads to the earlier ones. Never rejects: instead, the plan of the command that needs them fails. */
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

/** The transaction after the batch so far. */
interface Batch {
  readonly outbound: Pick<OutboundChanges, 'withEmail' | 'written'>;
  id(slot: number): string;
  added(emailId: string): NewEmail | undefined;
  addedWith(messageId: string): readonly NewEmail[];
}

/** The copies as the transaction knows them. */
export class SubmittedCopies {
  readonly unread = new UnreadCopies();
  readonly #batch: Batch;
  readonly #reads: CopyReads;

  constructor(batch: Batch, reads: CopyReads) {
    this.#batch = batch;
    this.#reads = reads;
  }

  /** Ids of the emails that are copies of the message, newest first, in any folder. @throws the fault that prevented reading them */
  of(messageId: string): readonly string[] {
    const added = this.#batch.addedWith(messageId).filter(({ origin }) => origin === 'submitted');
    const stored = this.#reads.copies.get(messageId);
    if (stored === undefined) this.#miss(() => this.unread.messageIds.add(messageId));
    return [...added.map(({ id }) => id), ...(stored ?? []).map(({ emailId }) => emailId)];
  }

  /** Null when no client has appended the email, or when it has no Message-Id. @throws the fault that prevented reading it */
  appendedMessageId(slot: number): string | null {
    const emailId = this.#batch.id(slot);
    const added = this.#batch.added(emailId);
    if (added !== undefined) return added.origin === 'appended' ? added.messageId : null;
    const messageId = this.#reads.appended.get(emailId);
    if (messageId === undefined) this.#miss(() => this.unread.emailIds.add(emailId));
    return messageId ?? null;
  }

  /** Finds the sent email whose copy this email is, after the batch so far. */
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
