// The outbound mail of a transaction, read through as if the batch so far had happened already: rows of the batch,
// then those in memory, then those that were read for it.
import type { MessageSummary } from '../../../mail/message-index.js';
import type { HandedOver, MailboxChange, OutboundChange } from '../../../store/mailboxes.js';
import type { DeliveryAttempt, OutboundContent, OutboundRow, OutboundStatus } from '../../../store/outbound.js';
import type { DeliveryReport } from '../../delivery/courier.js';
import type { MailboxState } from '../state.js';
import type { ReservedSlots, StartedDelivery } from './delivery-slots.js';
import type { OutboundPrefetched } from './prefetch.js';

interface Written {
  readonly row: OutboundRow;
  readonly before: OutboundStatus | null;
  /** Of its message before the batch. */
  readonly blob: string | null;
  readonly recipients: 'all' | ReadonlySet<string>;
  readonly content: OutboundContent | null | undefined;
  readonly summary: MessageSummary | undefined;
}

/** What is written of an email besides its row. */
export interface WrittenParts {
  /** Ids of the recipients that changed, or all of them, in place of those in the store. */
  readonly recipients: 'all' | readonly string[];
  readonly content?: OutboundContent | null | undefined;
  readonly summary?: MessageSummary;
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
  readonly #written = new Map<string, Written>();
  readonly #removed = new Set<string>();
  readonly #attempts: MailboxChange['outboundAttempts'][number][] = [];
  readonly #handedOver: HandedOver[] = [];
  readonly #due = new Set<string>();
  readonly #begun: BegunDelivery[] = [];
  readonly #slots: Pick<ReservedSlots, 'count' | 'by'> | undefined;
  #drafts = 0;

  constructor(
    state: MailboxState,
    prefetched: OutboundPrefetched,
    slots: Pick<ReservedSlots, 'count' | 'by'> | undefined,
  ) {
    this.#state = state;
    this.#prefetched = prefetched;
    this.#slots = slots;
  }

  /** Drafts after the batch so far. @throws the fault that kept them from being counted */
  get drafts(): number {
    const counted = this.#state.outbound.count('Draft') ?? this.#prefetched.drafts;
    if (counted === undefined) throw this.#unread('drafts were not counted');
    return counted + this.#drafts;
  }

  /** Undefined when there is no such email. @throws the fault that kept it from being read */
  get(id: string): OutboundRow | undefined {
    if (this.#removed.has(id)) return undefined;
    const known = this.#written.get(id)?.row ?? this.#state.outbound.get(id)?.row ?? this.#prefetched.rows.get(id);
    if (known === undefined) throw this.#unread(`outbound email ${id} was not read`);
    return known ?? undefined;
  }

  /** What becomes of recipients in hosted domains, by their numbers in the payload of `enqueue`. */
  hosted(payload: unknown): readonly DeliveryReport[] {
    return this.#prefetched.hosted.get(payload) ?? [];
  }

  /** @throws the fault that kept it from being read */
  summary(id: string): MessageSummary {
    const summary =
      this.#written.get(id)?.summary ?? this.#state.outbound.get(id)?.summary ?? this.#prefetched.summaries.get(id);
    if (summary === undefined) throw this.#unread(`the message of outbound email ${id} was not read`);
    return summary;
  }

  /** `before`: what `get` gave; undefined for an email that is new. */
  put(row: OutboundRow, before: OutboundRow | undefined, { recipients, content, summary }: WrittenParts): void {
    const known = this.#written.get(row.id);
    const isAll = recipients === 'all' || known?.recipients === 'all';
    this.#written.set(row.id, {
      row,
      before: known === undefined ? (before?.status ?? null) : known.before,
      blob: known === undefined ? (before?.blob ?? null) : known.blob,
      recipients: isAll ? 'all' : new Set([...(known?.recipients ?? []), ...recipients]),
      content: content === undefined ? known?.content : content,
      summary: summary ?? known?.summary,
    });
    this.#drafts += Number(row.status === 'Draft') - Number(before?.status === 'Draft');
  }

  /** A draft. */
  remove(id: string): void {
    const known = this.#written.get(id);
    this.#written.delete(id);
    this.#drafts--;
    if (known?.before !== null) this.#removed.add(id);
  }

  attempt(outboundId: string, attempt: DeliveryAttempt): void {
    this.#attempts.push({ outboundId, attempt });
  }

  handOver(handed: HandedOver): void {
    this.#handedOver.push(handed);
  }

  /** Somebody has something to do for this email once the batch is committed. */
  wake(id: string): void {
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

  change(): Pick<MailboxChange, 'outbound' | 'outboundRemoved' | 'outboundAttempts' | 'handedOver'> {
    return {
      outbound: [...this.#written.values()].map(written),
      outboundRemoved: [...this.#removed],
      outboundAttempts: this.#attempts,
      handedOver: this.#handedOver,
    };
  }

  #unread(message: string): unknown {
    return this.#prefetched.fault ?? new Error(message);
  }
}

function written({ row, before, blob, recipients, content }: Written): OutboundChange {
  return {
    row,
    before,
    recipients: recipients === 'all' ? recipients : [...recipients],
    ...(content === undefined ? {} : { content }),
    ...(blob === null || blob === row.blob ? {} : { released: blob }),
  };
}
