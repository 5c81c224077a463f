// The requests of other nodes to this one. They come in batches, over the subjects on which this node answers and over the subject of the
// node itself. Each is answered by itself, and the replies of one turn for one node leave as one batch.
import type { Logger } from 'pino';
import { BatchSender } from './batch-sender.js';
import type { BusSubscription, LinkConnection, LinkMessage, NatsLink } from './nats-link.js';
import { tooLarge } from './outgoing-requests.js';
import type { ReplyPacket } from './packet.js';
import { encode, type PacketText, packetText, readBatch } from './packet-batch.js';
import { readRequest } from './packet-reading.js';
import { nodeRequestsSubject } from './subjects.js';
import type { Registration, Responder } from './transport.js';
import { answered } from './transport-local.js';

export interface IncomingRequestsOptions {
  readonly link: NatsLink<LinkConnection>;
  /** The address of this node. */
  readonly address: string;
  readonly log: Logger;
}

const NOT_OWNER: ReplyPacket = { kind: 'notOwner' };

export class IncomingRequests {
  readonly #link: NatsLink<LinkConnection>;
  readonly #address: string;
  readonly #log: Logger;
  readonly #responders = new Map<string, Responder>();
  readonly #sender: BatchSender;
  /** The subscription to the subject of the node. */
  readonly #own: BusSubscription;
  /** The requests that are being answered. */
  #underWay = 0;
  readonly #waiting = new Set<() => void>();

  constructor({ link, address, log }: IncomingRequestsOptions) {
    this.#link = link;
    this.#address = address;
    this.#log = log;
    this.#sender = new BatchSender({
      turnEnd: link.turnEnd,
      capacity: () => link.capacity,
      // The subject has its prefix, because the asker has named it.
      publish: (subject, bytes) => link.publish(subject, bytes),
    });
    this.#own = link.subscribe(nodeRequestsSubject(address), (message) => this.#receive(message));
  }

  /** Replaces the responder of the subject. Requests that have arrived are still answered when the registration ends. */
  respond(subject: string, responder: Responder): Pick<Registration, 'end'> {
    this.#responders.set(subject, responder);
    const subscription = this.#link.subscribe(subject, (message) => this.#receive(message));
    return {
      end: () => {
        if (this.#responders.get(subject) === responder) this.#responders.delete(subject);
        subscription.drain();
      },
    };
  }

  /** Other nodes learn that nobody listens at the address any more. */
  end(): void {
    this.#own.drain();
  }

  /** Resolves when all requests that have arrived are answered; the replies leave at the end of the turn. */
  async answerAll(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #receive({ data, reply = '' }: LinkMessage): void {
    const packets = readBatch(data);
    if (packets === undefined) {
      this.#refuse(reply);
      return;
    }
    const replies = reply.slice(0, reply.lastIndexOf('.') + 1) + this.#address;
    for (const { tag, value } of packets) void this.#answer(value, (packet) => this.#reply(replies, tag, packet));
  }

  /** Never rejects. */
  async #answer(value: unknown, reply: (packet: ReplyPacket) => void): Promise<void> {
    const [subject, packet] = Array.isArray(value) ? value : [];
    const reading = readRequest(packet);
    if ('fault' in reading) {
      this.#log.warn({ subject, why: reading.fault.message }, 'a request was not understood');
      return reply(reading.fault);
    }
    const responder = this.#responders.get(subject);
    if (responder === undefined) return reply(NOT_OWNER);
    this.#underWay++;
    reply(await answered(responder, reading.request, this.#log));
    if (--this.#underWay > 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #reply(subject: string, tag: number, reply: ReplyPacket): void {
    if (this.#link.connection !== undefined) this.#sender.send(subject, tag, this.#textOf(reply));
  }

  #textOf(reply: ReplyPacket): PacketText {
    const { capacity } = this.#link;
    let why: string;
    try {
      const text = packetText(reply);
      if (text.length <= capacity) return text;
      why = tooLarge('the reply', text.length, capacity);
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
    this.#log.error({ why }, 'a reply cannot be sent');
    return packetText({ kind: 'fault', code: 'failed', message: why });
  }

  /** The reply to a batch as a whole. */
  #refuse(subject: string): void {
    this.#log.warn('a batch of requests was not understood');
    const fault: ReplyPacket = { kind: 'fault', code: 'failed', message: 'the request is no packet' };
    if (subject !== '') this.#link.publish(subject, encode(fault));
  }
}
