// The outbound mail of a transaction as if the batch so far were committed: rows of the batch come first, then those in memory, then those
// that were read for the batch.
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { Change, ChangeContent, ChangeOf } from '../../../store/changes/changes.js';
import type { LocalDelivery } from '../../../store/mailbox-rows.js';
import type {
  DeliveryAttempt,
  OutboundContent,
  OutboundRecipientRow,
  OutboundRow,
  OutboundStatus,
} from '../../../store/outbound.js';
import type { DeliveryReport } from '../../delivery/delivery-transport.js';
import type { MailboxState } from '../state/state.js';
import type { ReservedSlots, StartedDelivery } from './delivery-slots.js';
import { DraftEmails } from './draft-emails.js';
import type { BouncedEmail, OutboundPrefetched } from './prefetch.js';
import { SuppressionChanges } from './suppression-changes.js';

interface Written {
  readonly row: OutboundRow;
  readonly summary: MessageSummary | undefined;
}

/** The parts of an email that are written with its row. */
export interface WrittenParts {
  /** Ids of the recipients that changed; `all`: the recipients replace those in the store. */
  readonly recipients: 'all' | readonly string[];
  readonly content?: OutboundContent | null | undefined;
  readonly summary?: MessageSummary;
  /** The statuses that the change passes through, in order. */
  readonly passed?: readonly OutboundStatus[];
}

/** A delivery that begins when the batch is committed. */
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
  readonly suppressions: SuppressionChanges;

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
    this.suppressions = new SuppressionChanges(state, record);
  }

  /** The drafts after the batch so far; must not be changed. */
  get drafts(): DraftEmails {
    return this.#drafts ?? this.#state.outbound.drafts;
  }

  /** Undefined when there is no such email. @throws the fault that prevented reading it */
  get(id: string): OutboundRow | undefined {
    if (this.#removed.has(id)) return undefined;
    const known = this.#written.get(id)?.row ?? this.#state.outbound.get(id)?.row ?? this.#prefetched.rows.get(id);
    if (known === undefined) throw this.#unread(`outbound email ${id} was not read`);
    return known ?? undefined;
  }

  /** Returns the email as the batch has written it; undefined otherwise. */
  written(id: string): OutboundRow | undefined {
    return this.#written.get(id)?.row;
  }

  /** Finds the outbound email whose copy this email is, in the batch or in memory. */
  withEmail(emailId: string): OutboundRow | undefined {
    for (const { row } of this.#written.values()) if (row.emailId === emailId && row.status !== 'Draft') return row;
    const { row } = this.#state.outbound.withCopy(emailId) ?? {};
    return row === undefined || this.#written.has(row.id) || this.#removed.has(row.id) ? undefined : row;
  }

  /** Outcomes of recipients in hosted domains; their ids are their numbers in the email. `payload`: the command's payload. */
  hosted(payload: unknown): readonly DeliveryReport[] {
    return this.#prefetched.hosted.get(payload) ?? [];
  }

  /** Emails whose message a bounce returns, and their attempts. `payload`: the command's payload. */
  bounced(payload: unknown): readonly BouncedEmail[] {
    return this.#prefetched.bounced.get(payload) ?? [];
  }

  /** @throws the fault that prevented reading it */
  summary(id: string): MessageSummary {
    const summary =
      this.#written.get(id)?.summary ?? this.#state.outbound.get(id)?.summary ?? this.#prefetched.summaries.get(id);
    if (summary === undefined) throw this.#unread(`the message of outbound email ${id} was not read`);
    return summary;
  }

  /** `before`: the result of `get`; undefined for a new email. */
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

  /** Removes a draft. `isHidden`: its email had `\Deleted` in Drafts. */
  remove(outboundId: string, isHidden?: true): void {
    this.#record({ type: 'OutboundRemoved', payload: { outboundId, ...(isHidden && { isHidden }) } });
  }

  /** Removes an email that is Sent or Failed. */
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
      case 'SuppressionAdded':
      case 'SuppressionRemoved':
        this.suppressions.apply(change);
        return;
      case 'OutboundRemoved':
        this.#written.delete(change.payload.outboundId);
        this.#removed.add(change.payload.outboundId);
        this.#changeDrafts().delete(change.payload.outboundId);
    }
  }

  /** The queue is woken after the commit, because a delivery or a DSN to the sender is due. */
  wakeQueue(id: string): void {
    this.#due.add(id);
  }

  get due(): Iterable<string> {
    return this.#due;
  }

  /** The incarnation of this node when a slot is left for another delivery; otherwise undefined. */
  get deliverer(): string | undefined {
    const slots = this.#slots;
    return slots !== undefined && this.#begun.length < slots.count ? slots.by : undefined;
  }

  /** The delivery begins after the commit, so the queue need not be woken. */
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
    // The change was read from the log: the records that follow have the recipients, unless they did not change.
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

/** True when only columns differ that a step of the machine may change, or the copy. */
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
