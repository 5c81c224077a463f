// The loop of a ManageSieve session: it reads a command and carries it out.

import type { Reservation } from '../../concurrency/keyed-limiter.js';
import { networkOf } from '../../net/tcp/ip-address.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import { SessionLoop } from '../sessions/session-loop.js';
import { capabilities } from './capabilities.js';
import type { ManageSieveCommand } from './command.js';
import type { SieveSourceOptions } from './command-source.js';
import { dispatch } from './dispatch.js';
import { lineOf, ok } from './replies.js';
import { SieveSession, type SieveSessionParts } from './session.js';

export class SieveSessionLoop extends SessionLoop<SieveSession> {
  readonly #table: ReadonlyMap<string, ManageSieveCommand>;
  readonly #input: SessionInput;

  constructor(connection: LineConnection, parts: SieveSessionParts, table: ReadonlyMap<string, ManageSieveCommand>) {
    const input = new SessionInput(parts);
    super(new SieveSession(connection, parts, input));
    input.session = this.session;
    this.#input = input;
    this.#table = table;
  }

  override close(): void {
    this.#input.releaseMemory();
    super.close();
  }

  protected greet(): void {
    const { output, context } = this.session;
    output.write(capabilities(this.session) + lineOf(ok(`Mansio at ${context.hostname} is ready`)));
  }

  protected async carryOutNext(): Promise<boolean> {
    const { session } = this;
    const received = await session.source.next();
    if (received === undefined) return false;
    if (received.kind === 'lost') session.endLost();
    else await dispatch(session, this.#table, received);
    this.#input.releaseMemory();
    return true;
  }

  /** Pipelined commands of a client that has left are not carried out. */
  protected override mayContinue(): boolean {
    return super.mayContinue() && !this.session.connection.isLost;
  }
}

/** The limits of a session as its command source sees them. */
class SessionInput implements SieveSourceOptions {
  session: SieveSession | undefined;
  readonly #context: SieveSessionParts['context'];
  /** Memory of the current command. */
  #memory: Reservation | undefined;

  constructor({ context }: SieveSessionParts) {
    this.#context = context;
  }

  commandOctets(): number {
    const { commandOctets, unauthenticatedCommandOctets } = this.#context.limits;
    return this.session?.isLoggedIn === true ? commandOctets : unauthenticatedCommandOctets;
  }

  get skippedOctets(): number {
    const { skippedOctets, unauthenticatedCommandOctets } = this.#context.limits;
    return this.session?.isLoggedIn === true ? skippedOctets : unauthenticatedCommandOctets;
  }

  hold(octets: number): boolean {
    const { session } = this;
    if (session === undefined) return false;
    const key = session.isLoggedIn ? session.accountId : networkOf(session.remoteAddress);
    this.#memory ??= this.#context.memory.charge(key, 0);
    return this.#memory.resize(octets);
  }

  /** Called when the command is over. */
  releaseMemory(): void {
    this.#memory?.release();
    this.#memory = undefined;
  }
}
