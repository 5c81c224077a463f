// The loop of an IMAP session: it reads a command, carries it out, and lets NOTIFY send changes between commands.

import type { Reservation } from '../../concurrency/keyed-limiter.js';
import { networkOf } from '../../net/tcp/ip-address.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import { SessionLoop } from '../sessions/session-loop.js';
import type { Command } from './command.js';
import { dispatch, finishSuspended } from './dispatch.js';
import { ImapSession, type ImapSessionParts } from './imap-session.js';
import { type CommandPort, CommandSource, type CommandSourceOptions } from './wire/command-source.js';

export class ImapSessionLoop extends SessionLoop<ImapSession> {
  readonly #table: ReadonlyMap<string, Command>;
  readonly #input: SessionInput;
  readonly #source: CommandSource;

  constructor(connection: LineConnection, parts: ImapSessionParts, table: ReadonlyMap<string, Command>) {
    super(new ImapSession(connection, parts));
    this.#table = table;
    this.#input = new SessionInput(this.session, table);
    this.#source = new CommandSource(this.#input, this.#input);
  }

  override close(): void {
    this.#input.releaseMemory();
    super.close();
  }

  protected greet(): void {
    const { output, capabilities, context } = this.session;
    output.line(`* OK [CAPABILITY ${capabilities}] Mansio at ${context.hostname} is ready`);
  }

  protected async carryOutNext(): Promise<boolean> {
    const { session } = this;
    if (session.suspended === undefined) {
      const next = this.#source.next();
      const received = next instanceof Promise ? await next : next;
      if (received === undefined) return false;
      if (session.notifier !== undefined) await session.notifier.hold();
      await dispatch(session, this.#table, received);
      this.#input.releaseMemory();
    } else {
      await finishSuspended(session, session.suspended);
    }
    if (session.suspended === undefined) session.notifier?.release('no command');
    session.output.flush();
    return true;
  }
}

/** The session as its command source sees it. */
class SessionInput implements CommandPort, CommandSourceOptions {
  readonly #session: ImapSession;
  readonly #table: ReadonlyMap<string, Command>;
  /** Memory of the current command. */
  #memory: Reservation | undefined;

  constructor(session: ImapSession, table: ReadonlyMap<string, Command>) {
    this.#session = session;
    this.#table = table;
  }

  get limits() {
    return this.#session.context.limits;
  }

  get maxMessageSize(): number {
    return this.#session.context.maxMessageSize;
  }

  isStream(name: string): boolean {
    return this.#session.isLoggedIn && this.#table.get(name)?.stream === true;
  }

  isLoggedIn(): boolean {
    return this.#session.isLoggedIn;
  }

  isUtf8(): boolean {
    const { enabled } = this.#session;
    return enabled.has('IMAP4REV2') || enabled.has('UTF8=ACCEPT');
  }

  hold(octets: number): boolean {
    const { context, isLoggedIn } = this.#session;
    const key = isLoggedIn ? this.#session.accountId : networkOf(this.#session.remoteAddress);
    this.#memory ??= context.memory.commands.charge(key, 0);
    return this.#memory.resize(octets);
  }

  /** Called when the command is over. */
  releaseMemory(): void {
    this.#memory?.release();
    this.#memory = undefined;
  }

  readLine(): Buffer | undefined | Promise<Buffer | undefined> {
    return this.#session.connection.readLine();
  }

  readOctets(length: number): AsyncIterable<Buffer> {
    return this.#session.connection.readOctets(length);
  }

  /** A request for a literal (`+`) is sent after all earlier output. */
  write(octets: string): Promise<void> | undefined {
    const { output } = this.#session;
    output.write(octets);
    output.flush();
    return output.ready;
  }
}
