// The NATS transport of a cluster's nodes. The in-process transport carries packets within the node; packets to other nodes are on
// subjects below `mansio.<cluster>`, over the link's current connection.

import { connect, type NatsConnection, type TlsOptions } from 'nats';
import type { Logger } from 'pino';
import type { Observable } from 'rxjs';
import { atMost, inTime } from '../../../work/time-bounds.js';
import { dialAtStart, dialForEver } from './nats-dialing.js';
import { type BusSubscription, type LinkMessage, NatsLink } from './nats-link.js';
import { type NatsServer, natsServer, whyNot } from './nats-servers.js';
import { PACKET_VERSION, type Publication, type ReplyPacket, type RequestPacket } from './packet.js';
import { decode, encode } from './packet-batch.js';
import { readPublication, readReply, readRequest } from './packet-reading.js';
import {
  Disconnected,
  NoResponders,
  PacketTooLarge,
  type Registration,
  RequestTimeout,
  type Responder,
  type Transport,
} from './transport.js';
import { answered, localTransport } from './transport-local.js';

export interface NatsTransportOptions {
  /** nats://user:password@host:port, or tls://… */
  readonly servers: readonly string[];
  /** Several clusters may share servers. */
  readonly clusterId: string;
  readonly nodeId: string;
  readonly log: Logger;
}

/** A server that answers neither of two pings is considered gone. */
const PING_MS = 1_000;
const CLOSE_MS = 1_000;
/** Servers pass subscriptions on to each other a moment after they have confirmed them to the node. */
const LAG_MS = 1_000;

/** @throws BusUnavailable when no server can be used within about five seconds */
export async function natsTransport(options: NatsTransportOptions): Promise<Transport> {
  const { clusterId, nodeId, log } = options;
  const servers = options.servers.map(natsServer);
  let current: NatsServer;
  const dial = async (server: NatsServer, timeoutMs: number) => {
    const connection = await connectTo(server, nodeId, timeoutMs);
    current = server;
    return connection;
  };
  const first = await dialAtStart(servers, dial);
  const next = (over: () => boolean) => dialForEver(servers, current, dial, over, log);
  const prefix = `mansio.${clusterId}.`;
  return new NatsTransport(new NatsLink({ prefix, first, next, log }), prefix, log);
}

/**
 * Connects to one server of NATS_URL as a node does, and leaves. Returns its version.
 * @throws Error whose message says why the server cannot be used
 */
export async function askNatsServer(url: string, timeoutMs: number): Promise<string> {
  const server = natsServer(url);
  try {
    const connection = await connectTo(server, 'mansio doctor', timeoutMs);
    const { version } = connection.info!;
    await connection.close();
    return version;
  } catch (error) {
    throw new Error(whyNot(server, error), { cause: error });
  }
}

class NatsTransport implements Transport {
  readonly connected$: Observable<boolean>;
  readonly breaks$: Observable<void>;
  readonly lagMs = LAG_MS;
  readonly #link: NatsLink<NatsConnection>;
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #local: ReturnType<typeof localTransport>;
  readonly #responders = new Map<string, Registration>();
  readonly #followed = new Map<string, { readonly subscription: BusSubscription; listeners: number }>();
  /** Requests of other nodes that are being answered. */
  readonly #underWay = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(link: NatsLink<NatsConnection>, prefix: string, log: Logger) {
    this.#link = link;
    this.#prefix = prefix;
    this.#log = log;
    this.#local = localTransport({ log });
    this.connected$ = link.connected$;
    this.breaks$ = link.breaks$;
  }

  async request(subject: string, request: RequestPacket, timeoutMs: number): Promise<ReplyPacket> {
    if (this.#closing !== undefined) throw new Disconnected(subject);
    if (this.#local.answers(subject)) return this.#local.request(subject, request, timeoutMs);
    const { connection } = this.#link;
    if (connection === undefined) throw new Disconnected(subject);
    const bytes = encode(request);
    const most = capacity(connection);
    if (bytes.length > most) throw new PacketTooLarge(tooLarge('the request', bytes, most));
    try {
      const timeout = Math.max(1, timeoutMs);
      return readReply(decode((await connection.request(this.#prefix + subject, bytes, { timeout })).data));
    } catch (error) {
      const code = (error as { readonly code?: unknown }).code;
      // The client reports a request that was in progress then as timed out.
      if (connection.isClosed()) throw new Disconnected(subject, { cause: error });
      if (code === '503') throw new NoResponders(subject);
      if (code === 'TIMEOUT') throw new RequestTimeout(subject);
      throw new Disconnected(subject, { cause: error });
    }
  }

  respond(subject: string, responder: Responder): Registration {
    this.#responders.get(subject)?.end();
    const local = this.#local.respond(subject, responder);
    let ended = false;
    const subscription = this.#link.subscribe(subject, (message) => {
      const answering = this.#answer(subject, message, ended ? notHere : responder);
      this.#underWay.add(answering);
      void answering.finally(() => this.#underWay.delete(answering));
    });
    const end = () => {
      if (ended) return;
      ended = true;
      local.end();
      subscription.drain();
      if (this.#responders.get(subject) === registration) this.#responders.delete(subject);
    };
    const registration = { ready: this.#link.flushed(), end };
    this.#responders.set(subject, registration);
    return registration;
  }

  publish(subject: string, packet: Publication): void {
    // Sent first, because the listeners of this node may publish in turn.
    this.#send(subject, packet);
    this.#local.publish(subject, packet);
  }

  subscribe<P extends Publication>(subject: string, listener: (packet: P) => void): Registration {
    const local = this.#local.subscribe(subject, listener);
    const followed = this.#followed.get(subject) ?? {
      subscription: this.#link.subscribe(subject, (message) => this.#receive(subject, message)),
      listeners: 0,
    };
    this.#followed.set(subject, followed);
    followed.listeners++;
    let ended = false;
    const end = () => {
      if (ended) return;
      ended = true;
      local.end();
      if (--followed.listeners > 0) return;
      followed.subscription.end();
      this.#followed.delete(subject);
    };
    return { ready: this.#link.flushed(), end };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const registration of [...this.#responders.values()]) registration.end();
    await atMost(this.#answerAll(), CLOSE_MS);
    this.#link.close();
    await this.#local.close();
  }

  async #answerAll(): Promise<void> {
    // After a round trip, everything that the servers forwarded earlier has arrived.
    await this.#link.flushed();
    await Promise.all(this.#underWay);
    await this.#link.flushed();
  }

  /** Never rejects. */
  async #answer(subject: string, { data, reply: inbox }: LinkMessage, responder: Responder): Promise<void> {
    const reading = readRequest(decode(data));
    if ('fault' in reading) this.#log.warn({ subject, why: reading.fault.message }, 'a request was not understood');
    const foreign: Responder = (request) => responder(request, true);
    const reply = 'fault' in reading ? reading.fault : await answered(foreign, reading.request, this.#log);
    const { connection } = this.#link;
    if (connection === undefined || inbox === undefined || inbox === '') return;
    connection.publish(inbox, this.#encodeReply(subject, reply, capacity(connection)));
  }

  #encodeReply(subject: string, reply: ReplyPacket, most: number): Uint8Array {
    try {
      const bytes = encode(reply);
      if (bytes.length <= most) return bytes;
      throw new PacketTooLarge(tooLarge('the reply', bytes, most));
    } catch (error) {
      this.#log.error({ subject, err: error }, 'a reply cannot be sent');
      return encode({ kind: 'fault', code: 'failed', message: (error as Error).message });
    }
  }

  #receive(subject: string, { data }: LinkMessage): void {
    const packet = readPublication(decode(data));
    if (packet === undefined) this.#log.warn({ subject }, 'a publication was not understood');
    this.#local.publish(subject, packet ?? { v: PACKET_VERSION, kind: 'recheck' });
  }

  #send(subject: string, packet: Publication): void {
    const { connection } = this.#link;
    if (connection === undefined) return;
    let bytes = encode(packet);
    const most = capacity(connection);
    // Followers read a change from the log when its packet does not continue at their position.
    if (bytes.length > most && 'events' in packet) bytes = encode({ ...packet, after: packet.seq, events: [] });
    if (bytes.length <= most) connection.publish(this.#prefix + subject, bytes);
    else this.#log.error({ subject }, tooLarge('the publication', bytes, most));
  }
}

/** Answers requests after the end of the registration. */
const notHere: Responder = async () => ({ kind: 'notOwner' });

async function connectTo(server: NatsServer, name: string, timeoutMs: number): Promise<NatsConnection> {
  const connecting = connect({
    servers: server.address,
    ...server.credentials,
    // The certificate must name this host. The client itself ensures this for names, but not for addresses.
    ...(server.tls ? { tls: { host: server.host } as TlsOptions } : {}),
    name,
    // The listeners of this node already have what it publishes.
    noEcho: true,
    reconnect: false,
    timeout: timeoutMs,
    pingInterval: PING_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
  });
  let late = false;
  const closeLate = (connection: NatsConnection) => (late ? connection.close() : undefined);
  connecting.then(closeLate).catch(() => {});
  // The client's timeout is per address, and does not include the look-up of the name.
  const connection = await inTime(connecting, timeoutMs * 2, () => {
    late = true;
    return Object.assign(new Error('no connection in time'), { code: 'TIMEOUT' });
  });
  if (connection.info?.headers === true) return connection;
  await connection.close();
  throw Object.assign(new Error('headers, and so "no responders"'), { code: 'SERVER_OPT_NA' });
}

function capacity(connection: NatsConnection): number {
  return connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
}

function tooLarge(what: string, bytes: Uint8Array, most: number): string {
  return `${what} has ${bytes.length} octets, the servers of the bus carry ${most}`;
}
