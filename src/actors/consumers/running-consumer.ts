// One running consumer: the events of its account after its position, one change at a time, each delivered before the next. The stream is
// live when the consumer has caught up. Pages of a backlog are processed in time slices with a permit. A consumer that falls behind leaves
// the stream and reads the log from its position, so that memory holds few waiting events.
import type { Logger } from 'pino';
import {
  concat,
  concatMap,
  EMPTY,
  finalize,
  from,
  map,
  type Observable,
  of,
  repeat,
  type Subscription,
  takeWhile,
  throwError,
} from 'rxjs';
import type { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import type { Reservation } from '../../concurrency/keyed-limiter.js';
import { clock } from '../../store/clock.js';
import type { ConsumerPosition, ConsumerStore } from '../../store/consumers.js';
import { EVENT_LOG_START, type EventLog } from '../../store/events.js';
import type { MailboxEvent, Mailboxes } from '../mailbox/protocol.js';
import { permit$, permitted } from '../runtime/permits.js';
import { spanned, type Tracer } from '../runtime/tracing.js';
import type { PositionWriter } from './position-writer.js';
import type { ConsumerMeter, DeliveryOutcome, DeliveryRun, DurableConsumers, LogChange } from './protocol.js';

/** A batch of at least this many events is a page of a backlog: the next page is read when this one is done. */
const PAGE_EVENTS = 200;
/** The most events that wait for a live consumer. */
const MOST_WAITING = 1_000;
/** A time slice ends after this time, because other consumers wait. */
const SLICE_MS = 30_000;
/** The pause after a failure of the store or the log. */
const TROUBLE_MS = 5_000;
const AGAIN$ = of(true);

/** Shared by all consumers of a node. */
export interface ConsumerContext {
  readonly mailboxes: Mailboxes;
  readonly store: ConsumerStore;
  readonly log: Pick<EventLog, 'read'>;
  readonly positions: PositionWriter;
  /** Limits the consumers that read a backlog. */
  readonly semaphore: FairSemaphore;
  readonly logger: Logger;
  readonly meter: ConsumerMeter;
  readonly tracer: Tracer;
  owns(accountId: string): boolean;
  /** Aborts when the node stops. */
  readonly signal: AbortSignal;
}

type FailedDelivery = Extract<DeliveryOutcome, { readonly kind: 'failed' }>;

/** The reason why a consumer stopped by itself. `retryAt`: when its account must be looked at again, in ms since the epoch. */
export type ConsumerEnd = { readonly retryAt: number } | 'gone' | 'moved';

export class RunningConsumer {
  readonly kind: DurableConsumers;
  readonly #context: ConsumerContext;
  readonly #ended: (end: ConsumerEnd) => void;
  #consumer: ConsumerPosition;
  /** All changes up to this position are done. */
  #position: number;
  #stored: number;
  #waiting = 0;
  #isLive = false;
  #isOver = false;
  #isUpdating = false;
  #usedAt = performance.now();
  #work: Promise<unknown> = Promise.resolve();
  readonly #run: DeliveryRun;
  readonly #stream: Subscription;

  /** `ended` is called once, unless the consumer is stopped before. */
  constructor(
    kind: DurableConsumers,
    consumer: ConsumerPosition,
    context: ConsumerContext,
    ended: (end: ConsumerEnd) => void,
  ) {
    this.kind = kind;
    this.#consumer = consumer;
    this.#position = consumer.seq;
    this.#stored = consumer.seq;
    this.#context = context;
    this.#ended = ended;
    this.#run = { signal: context.signal, isCurrent: () => this.#isCurrent };
    this.#stream = this.#changes().subscribe({
      error: (err) => {
        context.logger.warn({ ...this.#named, err }, 'events for a consumer were interrupted');
        this.#end({ retryAt: clock.now() + TROUBLE_MS });
      },
    });
    if (this.#isOver) this.#stream.unsubscribe();
  }

  get id(): string {
    return this.#consumer.id;
  }

  /** The position in the store; undefined while it is being updated. */
  get stored(): number | undefined {
    return this.#isUpdating ? undefined : this.#stored;
  }

  /** The time in ms for which there has been no work. */
  get idleMs(): number {
    return this.#isLive && this.#waiting === 0 ? performance.now() - this.#usedAt : 0;
  }

  /** Starts nothing more; resolves when the running delivery is over and the position is stored. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#stream.unsubscribe();
    await this.#work;
    await this.#store(false);
  }

  /** Emits for each batch that is done. */
  #changes(): Observable<unknown> {
    const { mailboxes, semaphore, tracer } = this.#context;
    const { accountId } = this.#consumer;
    const brokenOff$ = throwError(() => new Error('the event stream has ended'));
    const slice = (permit: Reservation) => {
      const until = performance.now() + SLICE_MS;
      this.#waiting = 0;
      return concat(mailboxes.of(accountId).events$(this.#position), brokenOff$).pipe(
        takeWhile((batch) => {
          this.#waiting += batch.length;
          if (isPage(batch)) return false;
          // The consumer is live with few events in memory, so it needs no permit while its peer answers.
          permit.release();
          return this.#waiting <= MOST_WAITING;
        }, true),
        map((batch) => ({ batch, trace: tracer.current })),
        concatMap(({ batch, trace }) => {
          const work = tracer.within(trace, () => this.#deliverAll(batch, isPage(batch) ? until : undefined));
          this.#work = work;
          return from(work).pipe(map((isDone) => ({ isDone, events: batch.length })));
        }),
        takeWhile(({ isDone, events }) => {
          this.#waiting -= events;
          this.#isLive = isDone && this.#waiting === 0;
          return isDone;
        }),
        finalize(() => {
          this.#isLive = false;
        }),
      );
    };
    return permitted(permit$(semaphore, accountId), slice).pipe(
      repeat({ delay: () => (this.#isOver ? EMPTY : AGAIN$) }),
    );
  }

  /** Resolves with false when the rest must be read again, or the consumer has ended. */
  async #deliverAll(batch: readonly MailboxEvent[], until: number | undefined): Promise<boolean> {
    for (const change of changesOf(batch)) {
      if (this.#isOver || (until !== undefined && performance.now() > until)) return false;
      if (change.seq <= this.#position) continue;
      if (change.seq > this.#position + 1 && !(await this.#overGap())) return false;
      if (change.events.some((event) => this.kind.concerns(event))) {
        const deliver = () => this.kind.deliver(this.#consumer, change, this.#run);
        if (!(await this.#attempt(deliver, change.seq))) return false;
      } else {
        this.#position = change.seq;
      }
    }
    return !this.#isOver;
  }

  /** Changes without events skip numbers, and so does a log that was pruned. */
  async #overGap(): Promise<boolean> {
    const { log, logger } = this.#context;
    const { kind } = this;
    const consumer = this.#consumer;
    try {
      const [oldest] = await log.read(consumer.accountId, 0, 1);
      if (oldest === undefined || oldest.seq <= Math.max(this.#position, EVENT_LOG_START) + 1) return true;
      logger.warn({ ...this.#named, after: this.#position, next: oldest.seq }, 'a consumer has missed changes');
      const seq = oldest.seq - 1;
      if (kind.interrupted !== undefined) {
        return await this.#attempt(() => kind.interrupted!(consumer, this.#run), seq);
      }
      this.#position = seq;
      return true;
    } catch (err) {
      logger.warn({ ...this.#named, err }, 'event log could not be read');
      this.#end({ retryAt: clock.now() + TROUBLE_MS });
      return false;
    }
  }

  /** `seq`: the position after a successful attempt. */
  async #attempt(work: () => Promise<DeliveryOutcome>, seq: number): Promise<boolean> {
    if (!this.#isCurrent) {
      this.#end('moved');
      return false;
    }
    const outcome = await this.#outcome(work);
    // A consumer that only skips changes is idle too: its stop stores its position.
    if (outcome.kind !== 'passed') this.#usedAt = performance.now();
    switch (outcome.kind) {
      case 'passed':
        this.#position = seq;
        return true;
      case 'delivered':
      case 'dropped':
        this.#position = seq;
        if (await this.#store(outcome.kind === 'delivered')) return true;
        this.#end('moved');
        return false;
      case 'failed':
        this.#end(await this.#fail(outcome));
        return false;
      case 'deferred':
        await this.#store(false);
        this.#end({ retryAt: clock.now() + outcome.ms });
        return false;
      case 'gone':
        this.#end('gone');
        return false;
    }
  }

  async #outcome(work: () => Promise<DeliveryOutcome>): Promise<DeliveryOutcome> {
    const { meter, tracer, logger } = this.#context;
    const began = performance.now();
    const span = tracer.start(`deliver ${this.kind.kind}`, { kind: 'producer' });
    let outcome: DeliveryOutcome;
    try {
      outcome = await spanned(span, work);
    } catch (err) {
      logger.error({ ...this.#named, err }, 'delivery to a consumer failed');
      outcome = { kind: 'failed' };
    }
    if (outcome.kind !== 'passed') meter.attempted(this.kind.kind, outcome.kind, performance.now() - began);
    return outcome;
  }

  /** Stores that the change after the position could not be delivered. */
  async #fail({ retryAfterMs = 0, recovered = false }: FailedDelivery): Promise<ConsumerEnd> {
    const { store, logger } = this.#context;
    const { accountId, id } = this.#consumer;
    const now = clock.now();
    const failures = recovered ? 1 : this.#consumer.failures + 1;
    const failingSince = recovered ? now : (this.#consumer.failingSince ?? now);
    const retryAt = now + Math.max(retryAfterMs, this.kind.backoffMs(failures));
    const update = { accountId, id, before: this.#stored, seq: this.#position };
    this.#isUpdating = true;
    try {
      const failure = { ...update, retryAt, failures, failingSince };
      return (await store.fail(this.kind.kind, failure)) ? { retryAt } : 'moved';
    } catch (err) {
      logger.warn({ ...this.#named, err }, 'a failure of a consumer could not be stored');
      return { retryAt };
    } finally {
      this.#isUpdating = false;
    }
  }

  /** Resolves with false when the row has another position. `recovered`: earlier failures no longer count. */
  async #store(recovered: boolean): Promise<boolean> {
    if (this.#position === this.#stored) return true;
    const { accountId, id } = this.#consumer;
    const seq = this.#position;
    this.#isUpdating = true;
    try {
      const advance = { accountId, id, before: this.#stored, seq, recovered };
      if (!(await this.#context.positions.advance(this.kind.kind, advance))) return false;
    } finally {
      this.#isUpdating = false;
    }
    this.#stored = seq;
    const healthy = recovered ? { failures: 0, failingSince: null, retryAt: null } : {};
    this.#consumer = { ...this.#consumer, ...healthy, seq };
    return true;
  }

  #end(end: ConsumerEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended(end);
  }

  get #isCurrent(): boolean {
    return !this.#isOver && this.#context.owns(this.#consumer.accountId);
  }

  get #named() {
    return { accountId: this.#consumer.accountId, consumer: this.kind.kind, consumerId: this.id };
  }
}

const isPage = (batch: readonly MailboxEvent[]): boolean => batch.length >= PAGE_EVENTS;

function* changesOf(events: readonly MailboxEvent[]): Generator<LogChange> {
  let begin = 0;
  for (let i = 1; i <= events.length; i++) {
    const { seq, at } = events[begin]!;
    if (events[i]?.seq === seq) continue;
    yield { seq, at, events: events.slice(begin, i) };
    begin = i;
  }
}
