// An account's log at the pace of one client: from the client's cursor on, every change once and in order, for as long as the
// client keeps up. When the client falls behind, the subscription to the log ends; when the client can take more, the log is
// followed again from the position that the client has reached. So a backlog never waits in memory. It is one class, because
// a node has ten thousand of these streams: the same as a chain of built-in operators took 5 kB more a client.
import { Observable, type Subscriber, type Subscription, take } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';
import type { LogPosition, ResumeFrom, ResumePoint } from '../../actors/runtime/ref.js';

export interface LogReader {
  /** Called once, before the first batch: the client gets the changes after this position. */
  begin(point: ResumePoint): void;
  /**
   * Takes events of the batch, in order, until the client is behind. Undefined when all were taken and the client keeps up;
   * else the last whole change that was taken.
   */
  take(batch: readonly MailboxEvent[]): LogPosition | undefined;
  /** Emits when the client can take more. */
  drained$(): Observable<unknown>;
}

type Log = Pick<ReturnType<Mailboxes['of']>, 'events$' | 'resume'>;

/** Emits nothing. Errors when the log breaks off, and when the log was pruned beyond a slow client. */
export function pacedLog(mailbox: Log, from: ResumeFrom | null, reader: LogReader): Observable<never> {
  return new Observable((subscriber) => new PacedReader(mailbox, from, reader, subscriber));
}

/** The subscription of one client. */
class PacedReader {
  readonly #mailbox: Log;
  readonly #from: ResumeFrom | null;
  readonly #reader: LogReader;
  readonly #subscriber: Subscriber<never>;
  #reached: LogPosition | undefined;
  /** To the log, or to the signal that the client can take more. */
  #subscription: Subscription | undefined;
  #isBehind = false;

  constructor(mailbox: Log, from: ResumeFrom | null, reader: LogReader, subscriber: Subscriber<never>) {
    this.#mailbox = mailbox;
    this.#from = from;
    this.#reader = reader;
    this.#subscriber = subscriber;
    this.#follow();
  }

  /** A batch of the log. */
  next(batch: readonly MailboxEvent[]): void {
    if (this.#isBehind || this.#subscriber.closed) return;
    this.#guarded(() => {
      const behindAt = this.#reader.take(batch);
      if (behindAt === undefined) return;
      this.#reached = behindAt;
      this.#isBehind = true;
      // Otherwise `events$` emits while it is subscribed to.
      if (this.#subscription !== undefined) this.#pause();
    });
  }

  error(error: unknown): void {
    this.#subscriber.error(error);
  }

  complete(): void {
    this.#subscriber.error(new Error('the event stream has ended'));
  }

  unsubscribe(): void {
    this.#subscription?.unsubscribe();
  }

  #follow(): void {
    this.#subscription = undefined;
    this.#isBehind = false;
    this.#mailbox.resume(this.#reached ?? this.#from).then(
      (point) => this.#guarded(() => this.#begin(point)),
      (error: unknown) => this.error(error),
    );
  }

  #begin(point: ResumePoint): void {
    if (this.#subscriber.closed) return;
    if (this.#reached === undefined) this.#reader.begin(point);
    else if (!point.complete) {
      this.error(new Error('the client was slower than the log is kept'));
      return;
    }
    this.#reached = point.position;
    // `begin` may have ended the client.
    if (this.#subscriber.closed) return;
    const subscription = this.#mailbox.events$(point.position.seq).subscribe(this);
    this.#subscription = subscription;
    if (this.#subscriber.closed) subscription.unsubscribe();
    else if (this.#isBehind) this.#pause();
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.error(error);
    }
  }

  #pause(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = this.#reader
      .drained$()
      .pipe(take(1))
      .subscribe(() => this.#follow());
  }
}
