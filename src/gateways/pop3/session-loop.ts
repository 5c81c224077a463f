// The loop of a POP3 session: it reads a line and carries it out.

import type { LineConnection } from '../../net/tcp/line-connection.js';
import { SessionLoop } from '../sessions/session-loop.js';
import type { Pop3Command } from './command.js';
import { dispatch } from './dispatch.js';
import { lineOf, ok } from './replies.js';
import { Pop3Session, type Pop3SessionParts } from './session.js';

export class Pop3SessionLoop extends SessionLoop<Pop3Session> {
  readonly #table: ReadonlyMap<string, Pop3Command>;

  constructor(connection: LineConnection, parts: Pop3SessionParts, table: ReadonlyMap<string, Pop3Command>) {
    super(new Pop3Session(connection, parts));
    this.#table = table;
  }

  /** The greeting has no timestamp in angle brackets, because APOP is not offered (RFC 1939 §7). */
  protected greet(): void {
    const { output, context } = this.session;
    output.write(lineOf(ok(`Mansio at ${context.hostname} is ready`)));
  }

  protected async carryOutNext(): Promise<boolean> {
    const line = await this.session.connection.readLine();
    if (line !== undefined) await dispatch(this.session, this.#table, line);
    return line !== undefined;
  }

  /** Pipelined commands of a client that has left are not carried out: it may not have got the messages that it deletes. */
  protected override mayContinue(): boolean {
    const { session } = this;
    return session.running(true) && super.mayContinue() && !session.connection.isLost;
  }

  protected override rest(): void {
    this.session.running(false);
  }
}
