// The events of one connection that resumes: all events after the cursor of its client, in order, as fast as the client receives them
// (events/back-pressured-log). The client keeps up while the buffer of its socket contains little.
import type { Logger } from 'pino';
import { type Observable, Subject, type Subscription } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';
import type { LogPosition, ResumePoint } from '../../actors/runtime/ref.js';
import { backPressuredLog, type LogReader } from '../events/back-pressured-log.js';
import { cursorOf, positionOf, wholeChange } from '../events/cursor.js';
import type { CursorFrames } from './cursor-frames.js';
import { eventFilterOf } from './event-filter.js';
import type { HubProtocol } from './protocols/hub-protocol.js';

/** The dependencies that all resumptions of a node share. */
export interface ResumptionDependencies {
  readonly mailboxes: Mailboxes;
  readonly frames: CursorFrames;
  readonly log: Logger;
  /** A client for which more than this waits has fallen behind. Octets */
  readonly pauseBytes: number;
  /** A client whose buffer has not drained after this many visits is too slow. */
  readonly stallVisits: number;
  defer(run: () => void): void;
}

/** The connection as its resumption sees it. */
export interface ResumingConnection {
  readonly accountId: string;
  readonly protocol: HubProtocol;
  readonly topics: number;
  deliver(frame: Uint8Array): void;
  bufferedBytes(): number;
  /** Tells the client to connect again. */
  interrupted(): void;
  tooSlow(): void;
}

/** The result of the hub method `Resume`. */
export interface Resumed {
  readonly cursor: string;
  /** False when events after the client's cursor may be missing: the client has to reload what it shows. */
  readonly complete: boolean;
}

export class Resumption implements LogReader {
  readonly #connection: ResumingConnection;
  readonly #dependencies: ResumptionDependencies;
  #state: 'new' | 'following' | 'paused' | 'ended' = 'new';
  #begun: ((point: ResumePoint) => void) | undefined;
  #source: Subscription | undefined;
  #continue$: Subject<void> | undefined;
  #pausedVisits = 0;

  constructor(connection: ResumingConnection, dependencies: ResumptionDependencies) {
    this.#connection = connection;
    this.#dependencies = dependencies;
  }

  /** Returns the fault of the call, or undefined; then `answer` is called later, before the first event leaves. */
  start(args: readonly unknown[], answer: (resumed: Resumed) => void): string | undefined {
    if (this.#state !== 'new') return "'Resume' has been called on this connection before.";
    const [cursor] = args;
    const { accountId } = this.#connection;
    const from = typeof cursor === 'string' ? positionOf(cursor, accountId) : null;
    if (args.length !== 1 || (cursor !== null && typeof cursor !== 'string') || from === undefined) {
      return "'Resume' takes one argument: the cursor that came last, or null.";
    }
    this.#state = 'following';
    this.#begun = ({ position, complete }) =>
      answer({ cursor: cursorOf(position, accountId), complete: cursor === null || (from !== null && complete) });
    const mailbox = this.#dependencies.mailboxes.of(accountId);
    this.#source = backPressuredLog(mailbox, from && wholeChange(from), this).subscribe({
      error: (err) => this.#interrupt(err),
    });
    if (this.#isEnded) this.#source.unsubscribe();
    return undefined;
  }

  begin(point: ResumePoint): void {
    this.#begun?.(point);
    this.#begun = undefined;
  }

  end(): void {
    this.#state = 'ended';
    this.#source?.unsubscribe();
  }

  drained(): void {
    if (this.#state !== 'paused' || this.#connection.bufferedBytes() > this.#dependencies.pauseBytes) return;
    this.#state = 'following';
    this.#continue$?.next();
  }

  visit(): void {
    this.drained();
    if (this.#state !== 'paused') return;
    this.#pausedVisits++;
    if (this.#pausedVisits >= this.#dependencies.stallVisits) this.#connection.tooSlow();
  }

  take(batch: readonly MailboxEvent[]): LogPosition | undefined {
    const { accountId } = this.#connection;
    const filter = eventFilterOf(this.#connection);
    const { frames, pauseBytes } = this.#dependencies;
    for (const { octets, position } of frames.of(batch, accountId, filter)) {
      this.#connection.deliver(octets);
      if (this.#isEnded || this.#connection.bufferedBytes() > pauseBytes) return position;
    }
    return undefined;
  }

  drained$(): Observable<void> {
    this.#continue$ ??= new Subject();
    if (this.#isEnded) return this.#continue$;
    this.#state = 'paused';
    this.#pausedVisits = 0;
    // Frames that only wait for the end of the tick are no backlog, and the socket does not report when they are sent.
    this.#dependencies.defer(() => this.drained());
    return this.#continue$;
  }

  get #isEnded(): boolean {
    return this.#state === 'ended';
  }

  #interrupt(err: unknown): void {
    if (this.#isEnded) return;
    this.#dependencies.log.warn({ err, accountId: this.#connection.accountId }, 'mailbox events were interrupted');
    this.#connection.interrupted();
  }
}
