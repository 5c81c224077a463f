// The outbound mail of a transaction, read through as if the batch so far had happened already: rows of the batch,
// then those in memory, then those that were read for it.
import type { MessageSummary } from '../../../mail/summary.js';
import type { Change, ChangeContent, ChangeOf } from '../../../store/changes.js';
import type { LocalDelivery } from '../../../store/mailbox-rows.js';
import type {
  DeliveryAttempt,
  OutboundContent,
  OutboundRecipientRow,
  OutboundRow,
  OutboundStatus,
} from '../../../store/outbound.js';
import type { DeliveryReport } from '../../delivery/delivery-transport.js';
import type { MailboxState } from '../state.js';
import type { ReservedSlots, StartedDelivery } from './delivery-slots.js';
import { DraftEmails } from './draft-emails.js';
import type { BouncedEmail, OutboundPrefetched } from './prefetch.js';

interface Written {
  readonly row: OutboundRow;
  readonly summary: MessageSummary | undefined;
}

/** What is written of an email besides its row. */
export interface WrittenParts {
  /** Ids of the recipients that changed, or all of them, in place of those in the store. */
  readonly recipients: 'all' | readonly string[];
  readonly content?: OutboundContent | null | undefined;
  readonly summary?: MessageSummary;
  /** Statuses that the email came to with the change, in order. */
  readonly passed?: readonly OutboundStatus[];
}

/** A delivery that begins with the batch. */
interface BegunDelivery {
  readonly id: string;
  readonly attempt: NonNullable<OutboundRow['attempt']>;
  readonly started: StartedDelivery;
}

export class OutboundChanges {
  readonly #state: MailboxState;
  readonly #prefetched: OutboundPrefetched;
  readonly #record: (change: ChangeContent) => void;
  readonly #written = new Map<string, Written>();
  readonly #removed = new Set<string>();
  readonly #due = new Set<string>();
  readonly #begun: BegunDelivery[] = [];
  readonly #slots: Pick<ReservedSlots, 'count' | 'by'> | undefined;
  /** Undefined until the batch changes a draft. */
  #drafts: DraftEmails | undefined;

  constructor(
    state: MailboxState,
    prefetched: OutboundPrefetched,
    record: (change: ChangeContent) => void,
    slots: Pick<ReservedSlots, 'count' | 'by'> | undefined,
  ) {
    this.#state = state;
    this.#prefetched = prefetched;
    this.#record = record;
    this.#slots = slots;
  }

  /** After the batch so far; not to be changed. */
  get drafts(): DraftEmails {
    return this.#drafts ?? this.#state.outbound.drafts;
  }

  /** Undefined when there is no such email. @throws the fault that kept it from being read */
  get(id: string): OutboundRow | undefined {
    if (this.#removed.has(id)) return undefined;
    const known = this.#written.get(id)?.row ?? this.#state.outbound.get(id)?.row ?? this.#prefetched.rows.get(id);
    if (known === undefined) throw this.#unread(`outbound email ${id} was not read`);
    return known ?? undefined;
  }

  /** As the batch has written it; undefined when it has not. */
  written(id: string): OutboundRow | undefined {
    return this.#written.get(id)?.row;
  }

  /** That this email is the copy of, among those that the batch has written and those in memory. */
  withEmail(emailId: string): OutboundRow | undefined {
    for (const { row } of this.#written.values()) if (row.emailId === emailId && row.status !== 'Draft') return row;
    const { row } = this.#state.outbound.withCopy(emailId) ?? {};
    return row === undefined || this.#written.has(row.id) || this.#removed.has(row.id) ? undefined : row;
  }

  /** What becomes of recipients in hosted domains, by their numbers in the email. `payload`: of the command. */
  hosted(payload: unknown): readonly DeliveryReport[] {
    return this.#prefetched.hosted.get(payload) ?? [];
  }

  /** Emails whose message a bounce returns, and their attempts. `payload`: of the command. */
  bounced(payload: unknown): readonly BouncedEmail[] {
    return this.#prefetched.bounced.get(payload) ?? [];
  }

  /** @throws the fault that kept it from being read */
  summary(id: string): MessageSummary {
    const summary =
      this.#written.get(id)?.summary ?? this.#state.outbound.get(id)?.summary ?? this.#prefetched.summaries.get(id);
    if (summary === undefined) throw this.#unread(`the message of outbound email ${id} was not read`);
    return summary;
  }

  /** `before`: what `get` gave; undefined for an email that is new. */
  put(
    row: OutboundRow,
    before: OutboundRow | undefined,
    { recipients, content, summary, passed = [] }: WrittenParts,
  ): void {
    const { machine: _machine, recipients: all, ...outbound } = row;
    this.#record({
      type: 'OutboundChanged',
      payload: {
        outbound,
        before: before?.status ?? null,
        passed,
        ...(recipients === 'all' ? { recipientIds: all.map(({ id }) => id) } : {}),
        ...(before !== undefined && before.blob !== row.blob && { released: before.blob }),
      },
      storedOnly: {
        row,
        isSameMessage: before !== undefined && hasSameMessage(before, row),
        ...(content === undefined ? {} : { content }),
        ...(summary === undefined ? {} : { summary }),
      },
    });
    all.forEach((recipient, position) => {
      if (recipients !== 'all' && !recipients.includes(recipient.id)) return;
      this.#record({ type: 'RecipientChanged', payload: { outboundId: row.id, position, recipient } });
    });
  }

  /** A draft. `isHidden`: its email had `\Deleted` in Drafts. */
  remove(outboundId: string, isHidden?: true): void {
    this.#record({ type: 'OutboundRemoved', payload: { outboundId, ...(isHidden && { isHidden }) } });
  }

  /** An email that is sent or failed. */
  removeFinal(outboundId: string): void {
    this.#record({ type: 'OutboundRemoved', payload: { outboundId, isFinal: true } });
  }

  attempt(outboundId: string, attempt: DeliveryAttempt): void {
    this.#record({ type: 'DeliveryAttempted', payload: { outboundId, attempt } });
  }

  deliverLocally(delivery: LocalDelivery): void {
    this.#record({ type: 'DeliveredLocally', payload: delivery });
  }

  apply(change: Change): void {
    switch (change.type) {
      case 'OutboundChanged':
        this.#applyChanged(change);
        return;
      case 'RecipientChanged':
        this.#applyRecipient(change.payload);
        return;
      case 'OutboundRemoved':
        this.#written.delete(change.payload.outboundId);
        this.#removed.add(change.payload.outboundId);
        this.#changeDrafts().delete(change.payload.outboundId);
    }
  }

  /** The queue is notified of the email once the batch is committed: a delivery or a notification of the sender is due. */
  wakeQueue(id: string): void {
    this.#due.add(id);
  }

  get due(): Iterable<string> {
    return this.#due;
  }

  /** Incarnation of this node when a slot is left for another delivery. */
  get deliverer(): string | undefined {
    const slots = this.#slots;
    return slots !== undefined && this.#begun.length < slots.count ? slots.by : undefined;
  }

  /** The delivery begins once the batch is committed: the queue need not be notified. */
  begin(row: OutboundRow, attempt: BegunDelivery['attempt'], started: StartedDelivery): void {
    this.#begun.push({ id: row.id, attempt, started });
    this.#due.delete(row.id);
  }

  get begun(): readonly BegunDelivery[] {
    return this.#begun;
  }

  #applyChanged({ payload: { outbound, before, recipientIds }, storedOnly }: ChangeOf<'OutboundChanged'>): void {
    const { id, status } = outbound;
    const known = this.#written.get(id);
    if (status === 'Draft') this.#changeDrafts().set(outbound);
    else if (before === 'Draft') this.#changeDrafts().delete(id);
    if (storedOnly !== undefined) {
      this.#written.set(id, { row: storedOnly.row, summary: storedOnly.summary ?? known?.summary });
      return;
    }
    // Of the log: the list of recipients is what follows, or what was there.
    const recipients = recipientIds === undefined ? (known?.row.recipients ?? []) : [];
    this.#written.set(id, { row: { ...outbound, machine: null, recipients }, summary: known?.summary });
  }

  #applyRecipient({ outboundId, position, recipient }: ChangeOf<'RecipientChanged'>['payload']): void {
    const known = this.#written.get(outboundId);
    if (known === undefined || known.row.recipients[position] === recipient) return;
    const recipients: OutboundRecipientRow[] = [...known.row.recipients];
    recipients[position] = recipient;
    this.#written.set(outboundId, { ...known, row: { ...known.row, recipients } });
  }

  #changeDrafts(): DraftEmails {
    this.#drafts ??= new DraftEmails(this.#state.outbound.drafts);
    return this.#drafts;
  }

  #unread(message: string): unknown {
    return this.#prefetched.fault ?? new Error(message);
  }
}

/** In all columns that a step of the machine leaves as they are, but for the copy. */
function hasSameMessage(a: OutboundRow, b: OutboundRow): boolean {
  return (
    a.blob === b.blob &&
    a.sender === b.sender &&
    a.subject === b.subject &&
    a.messageId === b.messageId &&
    a.inReplyTo === b.inReplyTo &&
    a.references === b.references &&
    a.size === b.size
  );
}
