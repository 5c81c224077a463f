// The events of one connection that resumes: from the cursor its client came with, exactly and in order, as fast as the
// client takes them. A client that falls behind is not followed for any longer than its buffer lasts: its stream ends, and
// begins anew from its position in the log when the buffer has drained. So a large backlog never waits in memory.
import type { Logger } from 'pino';
import { Subscription } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';
import type { LogPosition } from '../../actors/runtime/ref.js';
import { cursorOf, positionOf } from './cursor.js';
import type { PositionedFrames } from './positioned-frames.js';

/** What all resumptions of a node share. */
export interface ResumptionSurroundings {
  readonly mailboxes: Mailboxes;
  readonly frames: PositionedFrames;
  readonly log: Logger;
  /** With more than this waiting to be sent, the client has fallen behind. Octets */
  readonly pauseBytes: number;
  /** A client that has not caught up with its buffer after so many visits is too slow. */
  readonly stallVisits: number;
  defer(run: () => void): void;
}

/** The connection. */
export interface Outlet {
  readonly accountId: string;
  readonly topics: number;
  deliver(frame: Uint8Array): void;
  bufferedBytes(): number;
  /** The client is to connect again. */
  interrupted(): void;
  tooSlow(): void;
}

/** Result of the hub method. */
export interface Resumed {
  readonly cursor: string;
  /** False when events after the client's cursor may be missing: it is to read anew what it shows. */
  readonly complete: boolean;
}

export class Resumption {
  readonly #outlet: Outlet;
  readonly #around: ResumptionSurroundings;
  #state: 'new' | 'locating' | 'following' | 'paused' | 'ended' = 'new';
  /** The client has, or will find in its buffer, everything until there. */
  #position: LogPosition = { seq: 0, at: 0 };
  #source: Subscription | undefined;
  #pausedVisits = 0;

  constructor(outlet: Outlet, around: ResumptionSurroundings) {
    this.#outlet = outlet;
    this.#around = around;
  }

  /** What is wrong with the call, or undefined; then `answer` is called later, before the first event goes out. */
  start(args: readonly unknown[], answer: (resumed: Resumed) => void): string | undefined {
    if (this.#state !== 'new') return "'Resume' has been called on this connection before.";
    const [cursor] = args;
    const from = typeof cursor === 'string' ? positionOf(cursor, this.#outlet.accountId) : null;
    if (args.length !== 1 || (cursor !== null && typeof cursor !== 'string') || from === undefined) {
      return "'Resume' takes one argument: the cursor that came last, or null.";
    }
    this.#state = 'locating';
    void this.#locate(from, cursor === null, answer);
    return undefined;
  }

  end(): void {
    this.#state = 'ended';
    this.#source?.unsubscribe();
  }

  drained(): void {
    if (this.#state === 'paused' && this.#outlet.bufferedBytes() <= this.#around.pauseBytes) this.#follow();
  }

  visit(): void {
    this.drained();
    if (this.#state !== 'paused') return;
    this.#pausedVisits++;
    if (this.#pausedVisits >= this.#around.stallVisits) this.#outlet.tooSlow();
  }

  async #locate(from: LogPosition | null, isNew: boolean, answer: (resumed: Resumed) => void): Promise<void> {
    const { accountId } = this.#outlet;
    try {
      const { position, complete } = await this.#around.mailboxes.of(accountId).resume(from);
      if (this.#state !== 'locating') return;
      this.#position = position;
      answer({ cursor: cursorOf(position, accountId), complete: isNew || (from !== null && complete) });
      this.#follow();
    } catch (err) {
      this.#interrupt(err);
    }
  }

  #follow(): void {
    if (this.#state === 'ended') return;
    this.#state = 'following';
    const source = new Subscription();
    this.#source = source;
    source.add(
      this.#around.mailboxes
        .of(this.#outlet.accountId)
        .events$(this.#position.seq)
        .subscribe({
          next: (batch) => {
            if (!source.closed) this.#take(batch);
          },
          error: (err) => this.#interrupt(err),
          complete: () => this.#interrupt(undefined),
        }),
    );
  }

  #take(batch: readonly MailboxEvent[]): void {
    const { accountId, topics } = this.#outlet;
    for (const { octets, position } of this.#around.frames.of(batch, accountId, topics)) {
      if (this.#state !== 'following') return;
      this.#position = position;
      this.#outlet.deliver(octets);
      if (this.#outlet.bufferedBytes() > this.#around.pauseBytes) this.#pause();
    }
  }

  #pause(): void {
    if (this.#state !== 'following') return;
    this.#state = 'paused';
    this.#pausedVisits = 0;
    this.#source?.unsubscribe();
    // What only waits for the end of the tick is no backlog, and nobody tells when it has left.
    this.#around.defer(() => this.drained());
  }

  #interrupt(err: unknown): void {
    if (this.#state === 'ended') return;
    this.#around.log.warn({ err, accountId: this.#outlet.accountId }, 'mailbox events were interrupted');
    this.#outlet.interrupted();
  }
}
