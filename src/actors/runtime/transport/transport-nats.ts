// The NATS transport of a cluster's nodes. The in-process transport carries packets within the node; packets to other nodes are on
// subjects below `mansio.<cluster>`, over the link's current connection.

import { connect, type NatsConnection, type TlsOptions } from 'nats';
import type { Logger } from 'pino';
import type { Observable } from 'rxjs';
import { atMost, inTime } from '../../../concurrency/time-bounds.js';
import { IncomingRequests } from './incoming-requests.js';
import { dialAtStart, dialForEver } from './nats-dialing.js';
import { type BusSubscription, type LinkMessage, NatsLink } from './nats-link.js';
import { type NatsServer, natsServer, whyNot } from './nats-servers.js';
import { OutgoingRequests, tooLarge } from './outgoing-requests.js';
import { PACKET_VERSION, type Publication, type ReplyPacket, type RequestPacket } from './packet.js';
import { decode, encode } from './packet-batch.js';
import { readPublication } from './packet-reading.js';
import type { RequestLimitsOptions } from './request-limits.js';
import { newAddress } from './subjects.js';
import { Disconnected, type Registration, type Responder, type Transport } from './transport.js';
import { localTransport } from './transport-local.js';

export interface NatsTransportOptions {
  /** nats://user:password@host:port, or tls://… */
  readonly servers: readonly string[];
  /** Several clusters may share servers. */
  readonly clusterId: string;
  readonly nodeId: string;
  readonly log: Logger;
  readonly limits?: RequestLimitsOptions;
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
  return new NatsTransport(new NatsLink({ prefix, first, next, log }), prefix, options);
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
  readonly #outgoing: OutgoingRequests;
  readonly #incoming: IncomingRequests;
  #closing: Promise<void> | undefined;

  constructor(link: NatsLink<NatsConnection>, prefix: string, { log, limits }: NatsTransportOptions) {
    this.#link = link;
    this.#prefix = prefix;
    this.#log = log;
    this.#local = localTransport({ log });
    const address = newAddress();
    this.#outgoing = new OutgoingRequests({ link, prefix, address, limits });
    this.#incoming = new IncomingRequests({ link, address, log });
    this.connected$ = link.connected$;
    this.breaks$ = link.breaks$;
  }

  request(subject: string, request: RequestPacket, timeoutMs: number): Promise<ReplyPacket> {
    if (this.#closing !== undefined) return Promise.reject(new Disconnected(subject));
    const answerer = this.#local.answers(subject) ? this.#local : this.#outgoing;
    return answerer.request(subject, request, timeoutMs);
  }

  forgetRoute(subject: string): void {
    this.#outgoing.forgetRoute(subject);
  }

  respond(subject: string, responder: Responder): Registration {
    this.#responders.get(subject)?.end();
    const local = this.#local.respond(subject, responder);
    const remote = this.#incoming.respond(subject, responder);
    let ended = false;
    const end = () => {
      if (ended) return;
      ended = true;
      local.end();
      remote.end();
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
    this.#incoming.end();
    await atMost(this.#answerAll(), CLOSE_MS);
    this.#link.close();
    await this.#local.close();
  }

  async #answerAll(): Promise<void> {
    // After a round trip, everything that the servers forwarded earlier has arrived.
    await this.#link.flushed();
    await this.#incoming.answerAll();
    await this.#link.flushed();
  }

  #receive(subject: string, { data }: LinkMessage): void {
    const packet = readPublication(decode(data));
    if (packet === undefined) this.#log.warn({ subject }, 'a publication was not understood');
    this.#local.publish(subject, packet ?? { v: PACKET_VERSION, kind: 'recheck' });
  }

  #send(subject: string, packet: Publication): void {
    if (this.#link.connection === undefined) return;
    let bytes = encode(packet);
    const most = this.#link.capacity;
    // Followers read a change from the log when its packet does not continue at their position.
    if (bytes.length > most && 'events' in packet) bytes = encode({ ...packet, after: packet.seq, events: [] });
    if (bytes.length <= most) this.#link.turnEnd.add(() => this.#link.publish(this.#prefix + subject, bytes));
    else this.#log.error({ subject }, tooLarge('the publication', bytes.length, most));
  }
}

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
