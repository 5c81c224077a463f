// Connections to mail hosts: the pool opens them, keeps them for the next message, and ends them. A host is an address. The scheduler
// decides who may have a connection, and when: the pool asks for a permit first. Idle connections count too, and end when another
// connection needs their room.
import type { ConnectionPermit, DeliveryTask } from '../../actors/delivery/delivery-transport.js';
import type { SmtpClientLimits } from './limits.js';
import type { SmtpClientMeter } from './meter.js';
import type { ClientSession } from './session.js';

export interface Target {
  readonly address: string;
  /** Sessions with the same key are interchangeable: the key contains name and TLS. */
  readonly key: string;
  open(): Promise<ClientSession>;
}

interface Idle {
  readonly key: string;
  readonly session: ClientSession;
  readonly since: number;
}

interface Host {
  readonly address: string;
  /** The number of connections, including those that are being opened and those that are idle. */
  connections: number;
  /** The longest idle first. */
  readonly idle: Idle[];
}

interface InUse {
  readonly host: Host;
  readonly key: string;
  readonly permit: ConnectionPermit;
}

export class SessionPool {
  readonly #limits: SmtpClientLimits;
  readonly #meter: SmtpClientMeter;
  readonly #hosts = new Map<string, Host>();
  readonly #inUse = new Map<ClientSession, InUse>();
  #connections = 0;
  #waiting = 0;
  #isClosing = false;

  constructor(limits: SmtpClientLimits, meter: SmtpClientMeter) {
    this.#limits = limits;
    this.#meter = meter;
  }

  /**
   * The caller returns the session by `release`. `isNew`: it must not have been used before. Undefined when the scheduler gave no permit.
   * @throws SessionFailure, or what opening throws
   */
  async acquire(
    target: Target,
    signal: AbortSignal,
    connect: DeliveryTask['connect'],
    isNew: boolean,
  ): Promise<ClientSession | undefined> {
    const permit = await this.#permit(connect(target.address, signal));
    if (permit === undefined) return undefined;
    const host = this.#host(target.address);
    const { key } = target;
    const idle = isNew ? undefined : takeIdle(host, key);
    if (idle !== undefined) {
      this.#inUse.set(idle, { host, key, permit });
      return idle;
    }
    this.#makeRoom(host);
    this.#count(host, 1);
    try {
      const session = await target.open();
      this.#inUse.set(session, { host, key, permit });
      return session;
    } catch (error) {
      this.#count(host, -1);
      permit.leave(false);
      throw error;
    }
  }

  /** `isReusable`: the session is ready for the next transaction. */
  release(session: ClientSession, isReusable: boolean): void {
    const used = this.#inUse.get(session);
    if (used === undefined) return;
    this.#inUse.delete(session);
    const { host, key, permit } = used;
    const { messagesPerConnection, idleMs } = this.#limits;
    const stays = isReusable && !session.isOver && !this.#isClosing && session.served < messagesPerConnection;
    if (stays) {
      const idle = { key, session, since: performance.now() };
      host.idle.push(idle);
      session.keepIdle(idleMs, () => {
        const at = host.idle.indexOf(idle);
        if (at === -1) return;
        host.idle.splice(at, 1);
        this.#count(host, -1);
      });
    } else {
      session.quit();
      this.#count(host, -1);
    }
    permit.leave(stays);
  }

  /** Ends idle sessions; those in use end when they are released. */
  close(): void {
    this.#isClosing = true;
    for (const host of [...this.#hosts.values()]) while (host.idle.length > 0) this.#endOldest(host);
  }

  async #permit(asked: ReturnType<DeliveryTask['connect']>): Promise<ConnectionPermit | undefined> {
    if (!(asked instanceof Promise)) return asked;
    this.#waiting++;
    this.#report();
    try {
      return await asked;
    } finally {
      this.#waiting--;
      this.#report();
    }
  }

  #host(address: string): Host {
    let host = this.#hosts.get(address);
    if (host === undefined) {
      host = { address, connections: 0, idle: [] };
      this.#hosts.set(address, host);
    }
    return host;
  }

  /** Ends the sessions that have been idle longest when another connection would exceed a limit. */
  #makeRoom(host: Host): void {
    const { connections, connectionsPerHost } = this.#limits;
    if (host.connections >= connectionsPerHost && host.idle.length > 0) this.#endOldest(host);
    if (this.#connections < connections) return;
    let oldest: Host | undefined;
    for (const other of this.#hosts.values()) {
      const since = other.idle[0]?.since ?? Number.POSITIVE_INFINITY;
      if (since < (oldest?.idle[0]?.since ?? Number.POSITIVE_INFINITY)) oldest = other;
    }
    if (oldest !== undefined) this.#endOldest(oldest);
  }

  #endOldest(host: Host): void {
    const { session } = host.idle.shift()!;
    session.use();
    session.quit();
    this.#count(host, -1);
  }

  #count(host: Host, by: 1 | -1): void {
    host.connections += by;
    this.#connections += by;
    if (host.connections === 0) this.#hosts.delete(host.address);
    else this.#hosts.set(host.address, host);
    this.#report();
  }

  #report(): void {
    this.#meter.inUse(this.#connections, this.#waiting);
  }
}

/** Takes the session that was used last, so that the others can end. */
function takeIdle(host: Host, key: string): ClientSession | undefined {
  const at = host.idle.findLastIndex((idle) => idle.key === key);
  const [idle] = at === -1 ? [] : host.idle.splice(at, 1);
  idle?.session.use();
  return idle?.session;
}
