// The requests of this node to other nodes. A request goes straight to the node that answered on its subject last, together with all others
// of the turn for that node. Without such a route, or when the route leads nowhere, it goes over its own subject, and its reply tells the
// route. All replies come to one subscription, which is `replies.<address of this node>.*`: the last token is the address of the node that
// answers, or the number of a batch that nobody could read or receive.
import { BatchSender } from './batch-sender.js';
import type { LinkConnection, LinkMessage, NatsLink } from './nats-link.js';
import type { ReplyPacket, RequestPacket } from './packet.js';
import { decode, type PacketText, packetText, readBatch } from './packet-batch.js';
import { readReply } from './packet-reading.js';
import { RequestLimits, type RequestLimitsOptions, type RequestUsage } from './request-limits.js';
import { Routes } from './routes.js';
import { nodeRequestsSubject, replySubject } from './subjects.js';
import { Congested, Disconnected, NoResponders, PacketTooLarge, RequestTimeout } from './transport.js';

export interface OutgoingRequestsOptions {
  readonly link: NatsLink<LinkConnection>;
  /** Precedes every subject. */
  readonly prefix: string;
  /** The address of this node. */
  readonly address: string;
  readonly limits?: RequestLimitsOptions | undefined;
}

interface RequestUnderWay {
  readonly subject: string;
  readonly tag: number;
  readonly packet: PacketText;
  readonly usage: RequestUsage;
  /** The address of the node that was asked; undefined when the request went over its own subject. */
  route: string | undefined;
  /** The generation of the routes when the request was sent. */
  generation: number;
  batch: number;
  readonly timer: NodeJS.Timeout;
  resolve(reply: ReplyPacket): void;
  reject(error: Error): void;
}

const NO_RESPONDERS = 503;
const TAGS = 2 ** 32;
const OVERLOADED: ReplyPacket = { kind: 'fault', code: 'overloaded', message: 'too many requests wait for the node' };

/** The bus, or a node that hangs, may hold octets for this long after nobody waits for their answer any more. */
const LATE_MS = 10_000;

export class OutgoingRequests {
  readonly #link: NatsLink<LinkConnection>;
  readonly #routes = new Routes();
  readonly #limits: RequestLimits;
  readonly #sender: BatchSender;
  readonly #underWay = new Map<number, RequestUnderWay>();
  #newest = 0;

  constructor({ link, prefix, address, limits }: OutgoingRequestsOptions) {
    this.#link = link;
    this.#limits = new RequestLimits(limits);
    this.#sender = new BatchSender({
      turnEnd: link.turnEnd,
      capacity: () => link.capacity,
      publish: (subject, bytes, batch) =>
        link.publish(prefix + subject, bytes, prefix + replySubject(address, String(batch))),
    });
    link.subscribe(replySubject(address, '*'), (message) => this.#receive(message));
    link.connected$.subscribe((connected) => connected || this.#disconnect());
    // The notices about other owners may have been missed.
    link.breaks$.subscribe(() => this.#routes.clear());
  }

  /** Rejects with NoResponders, RequestTimeout, Disconnected, PacketTooLarge or Congested. */
  request(subject: string, request: RequestPacket, timeoutMs: number): Promise<ReplyPacket> {
    return new Promise((resolve, reject) => {
      const { connection, capacity } = this.#link;
      if (connection === undefined) return reject(new Disconnected(subject));
      const packet = packetText([subject, request]);
      if (packet.length > capacity) return reject(new PacketTooLarge(tooLarge('the request', packet.length, capacity)));
      const route = this.#routes.addressOf(subject);
      const usage = this.#limits.reserve(route, subject, request.accountId, octetsOf(packet));
      if (usage === 'octets') return reject(new Congested(`too many octets are under way to the node of ${subject}`));
      if (usage === 'requests') return resolve(OVERLOADED);
      const tag = this.#newTag();
      const timer = setTimeout(() => this.#late(tag), Math.max(1, timeoutMs));
      const underWay = { subject, tag, packet, usage, route, generation: 0, batch: 0, timer, resolve, reject };
      this.#underWay.set(tag, underWay);
      this.#send(underWay);
    });
  }

  /** The next request on the subject finds out again which node answers. */
  forgetRoute(subject: string): void {
    this.#routes.forget(subject);
  }

  #send(underWay: RequestUnderWay): void {
    const { route, subject, tag, packet } = underWay;
    const to = route === undefined ? subject : nodeRequestsSubject(route);
    underWay.generation = this.#routes.generation;
    underWay.batch = this.#sender.send(to, tag, packet);
  }

  #receive({ subject, data, headers }: LinkMessage): void {
    const from = subject.slice(subject.lastIndexOf('.') + 1);
    const batch = Number(from);
    if (!Number.isNaN(batch)) {
      this.#batchFailed(batch, data, headers?.code);
      return;
    }
    for (const { tag, value } of readBatch(data) ?? []) {
      const underWay = this.#underWay.get(tag);
      if (underWay !== undefined) this.#answered(underWay, readReply(value), from);
    }
  }

  #answered(underWay: RequestUnderWay, reply: ReplyPacket, from: string): void {
    const { subject, route } = underWay;
    if (reply.kind === 'notOwner' && route !== undefined) {
      this.#reroute(underWay, route);
      return;
    }
    if (reply.kind !== 'notOwner') this.#routes.learn(subject, from, underWay.generation);
    this.#end(underWay).resolve(reply);
  }

  /** Nobody is subscribed to the subject that the batch went to, or who received it could not read it. */
  #batchFailed(batch: number, data: Uint8Array, status: number | undefined): void {
    const underWay = [...this.#underWay.values()].filter((request) => request.batch === batch);
    for (const request of underWay) {
      if (data.length > 0 || status !== NO_RESPONDERS) this.#end(request).resolve(readReply(decode(data)));
      else if (request.route !== undefined) this.#reroute(request, request.route);
      else this.#end(request).reject(new NoResponders(request.subject));
    }
  }

  /** Sends the request over its own subject, because its route leads nowhere. */
  #reroute(underWay: RequestUnderWay, route: string): void {
    this.#routes.forget(underWay.subject, route);
    underWay.route = undefined;
    this.#send(underWay);
  }

  #late(tag: number): void {
    const underWay = this.#underWay.get(tag);
    if (underWay === undefined) return;
    const { subject, route } = underWay;
    if (route !== undefined) this.#routes.forget(subject, route);
    this.#end(underWay, underWay.packet.octets.length === 0 ? 0 : LATE_MS).reject(new RequestTimeout(subject));
  }

  #disconnect(): void {
    this.#sender.drop();
    this.#routes.clear();
    for (const underWay of [...this.#underWay.values()]) {
      this.#end(underWay).reject(new Disconnected(underWay.subject));
    }
  }

  /** `heldMs`: how long the usage counts after the end. */
  #end(underWay: RequestUnderWay, heldMs = 0): RequestUnderWay {
    clearTimeout(underWay.timer);
    this.#underWay.delete(underWay.tag);
    if (heldMs === 0) underWay.usage.release();
    else setTimeout(() => underWay.usage.release(), heldMs).unref();
    return underWay;
  }

  #newTag(): number {
    do this.#newest = (this.#newest + 1) % TAGS;
    while (this.#underWay.has(this.#newest));
    return this.#newest;
  }
}

/** The whole packet counts, because what describes the octets may be larger than they are. */
function octetsOf({ octets, length }: PacketText): number {
  return octets.length === 0 ? 0 : length;
}

export function tooLarge(what: string, length: number, capacity: number): string {
  return `${what} has ${length} octets, the servers of the bus carry ${capacity}`;
}
