// The life of a session on its connection: the greeting, one command after the other, rests between them, and the end.

import { eventLoop, SLICE_MS } from '../../net/tcp/event-loop.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import type { LineSession } from '../../net/tcp/line-session.js';
import type { Pop3Command } from './command.js';
import { dispatch } from './dispatch.js';
import { lineOf, ok } from './replies.js';
import { Pop3Session, type Pop3SessionParts } from './session.js';

export class Pop3SessionLoop implements LineSession {
  readonly #session: Pop3Session;
  readonly #table: ReadonlyMap<string, Pop3Command>;
  #isGreeted = false;

  constructor(connection: LineConnection, parts: Pop3SessionParts, table: ReadonlyMap<string, Pop3Command>) {
    this.#session = new Pop3Session(connection, parts);
    this.#table = table;
  }

  async run(): Promise<'rest' | 'over'> {
    const session = this.#session;
    const { connection, output } = session;
    if (!this.#isGreeted) this.#greet();
    let began = performance.now();
    // Pipelined commands of a client that has left are not carried out: it may not have got the messages that it deletes.
    while (session.running(true) && !session.isOver && !connection.isLost) {
      if (!connection.hasInput) {
        session.running(false);
        return 'rest';
      }
      const line = await connection.readLine();
      if (line === undefined) return 'over';
      await dispatch(session, this.#table, line);
      // A client that sends commands and does not read replies waits for its next reply.
      if (output.ready !== undefined) await output.ready;
      if (performance.now() - began < SLICE_MS) continue;
      output.flush();
      await eventLoop.yield(session.state === 'authorization' ? session.remoteAddress : session.accountId);
      began = performance.now();
    }
    return 'over';
  }

  close(): void {
    this.#session.close();
  }

  /** The greeting has no timestamp in angle brackets, because APOP is not offered (RFC 1939 §7). */
  #greet(): void {
    const { output, context } = this.#session;
    this.#isGreeted = true;
    output.write(lineOf(ok(`Mansio at ${context.hostname} is ready`)));
    output.flush();
  }
}
