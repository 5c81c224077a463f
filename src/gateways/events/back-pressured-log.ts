// The log of an account at the pace of one client: every change after the client's cursor, once and in order, as long as the client keeps
// up. When the client falls behind, the subscription to the log ends; when it can receive more, the log is followed again from the client's
// position. So a backlog never waits in memory. It is one class because a node has ten thousand of these streams: a chain of built-in
// operators takes 5 kB more per client.
import { Observable, type Subscriber, type Subscription, take } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';
import type { LogPosition, ResumeFrom, ResumePoint } from '../../actors/runtime/ref.js';

export interface LogReader {
  /** Called once, before the first batch: the client gets the changes after this position. */
  begin(point: ResumePoint): void;
  /**
   * Processes events of the batch, in order, until the client is behind. Returns undefined when the client keeps up with all of them;
   * otherwise the last whole change that was processed.
   */
  take(batch: readonly MailboxEvent[]): LogPosition | undefined;
  /** Emits when the client can receive more. */
  drained$(): Observable<unknown>;
}

type Log = Pick<ReturnType<Mailboxes['of']>, 'events$' | 'resume'>;

/** Emits nothing. Fails when the log breaks off, and when the log is pruned beyond the position of a slow client. */
export function backPressuredLog(mailbox: Log, from: ResumeFrom | null, reader: LogReader): Observable<never> {
  return new Observable((subscriber) => new BackPressuredReader(mailbox, from, reader, subscriber));
}

/** The subscription of one client. */
class BackPressuredReader {
  readonly #mailbox: Log;
  readonly #from: ResumeFrom | null;
  readonly #reader: LogReader;
  readonly #subscriber: Subscriber<never>;
  #reached: LogPosition | undefined;
  /** The subscription to the log, or to the signal that the client can receive more. */
  #subscription: Subscription | undefined;
  #isBehind = false;

  constructor(mailbox: Log, from: ResumeFrom | null, reader: LogReader, subscriber: Subscriber<never>) {
    this.#mailbox = mailbox;
    this.#from = from;
    this.#reader = reader;
    this.#subscriber = subscriber;
    this.#follow();
  }

  /** Handles a batch of the log. */
  next(batch: readonly MailboxEvent[]): void {
    if (this.#isBehind || this.#subscriber.closed) return;
    this.#guarded(() => {
      const behindAt = this.#reader.take(batch);
      if (behindAt === undefined) return;
      this.#reached = behindAt;
      this.#isBehind = true;
      // When it is undefined, `events$` emits while it is being subscribed to, and the caller pauses.
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
