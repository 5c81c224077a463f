// The life of a session on its connection: the greeting, one command after the other, rests between them, and the end. A client that sends
// commands and does not read replies waits for its next reply, and a session that works for long lets others work.
import { eventLoop, SLICE_MS } from '../../net/tcp/event-loop.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import type { LineSession } from '../../net/tcp/line-session.js';
import type { Output } from './output.js';

interface LoopedSession {
  readonly connection: LineConnection;
  readonly output: Output;
  readonly isOver: boolean;
  readonly isLoggedIn: boolean;
  readonly accountId: string;
  readonly remoteAddress: string;
  close(): void;
}

export abstract class SessionLoop<S extends LoopedSession> implements LineSession {
  protected readonly session: S;
  #isGreeted = false;

  constructor(session: S) {
    this.session = session;
  }

  async run(): Promise<'rest' | 'over'> {
    const { session } = this;
    const { connection, output } = session;
    if (!this.#isGreeted) {
      this.#isGreeted = true;
      this.greet();
      output.flush();
    }
    let began = performance.now();
    while (this.mayContinue()) {
      if (!connection.hasInput) {
        this.rest();
        return 'rest';
      }
      if (!(await this.carryOutNext())) return 'over';
      if (output.ready !== undefined) await output.ready;
      if (performance.now() - began < SLICE_MS) continue;
      output.flush();
      await eventLoop.yield(session.isLoggedIn ? session.accountId : session.remoteAddress);
      began = performance.now();
    }
    return 'over';
  }

  close(): void {
    this.session.close();
  }

  protected abstract greet(): void;

  /** Reads and carries out the next command; false when the peer has closed its side. @throws ConnectionEnd, FramingError */
  protected abstract carryOutNext(): Promise<boolean>;

  /** Whether a command may be carried out. */
  protected mayContinue(): boolean {
    return !this.session.isOver;
  }

  /** Called when the session waits for its client. */
  protected rest(): void {}
}
