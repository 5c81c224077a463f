// A bus of several servers in memory; each node is linked to one. Links can be cut, and servers can be separated from each other. Every
// packet takes a moment, and is encoded and decoded.
import { BehaviorSubject, NEVER } from 'rxjs';
import type { Publication, ReplyPacket, RequestPacket } from '../../../src/actors/runtime/transport/packet.js';
import { decode, encode } from '../../../src/actors/runtime/transport/packet-batch.js';
import {
  Disconnected,
  NoResponders,
  RequestTimeout,
  type Responder,
  type Transport,
} from '../../../src/actors/runtime/transport/transport.js';
import type { Proc, VirtualTime } from './virtual-time.js';

const HOP_MS = 1;

export class BusModel {
  readonly #time: VirtualTime;
  readonly #links = new Set<BusLink>();
  /** Called for everything that is published, at that moment. */
  published: (by: Proc, packet: Publication) => void = () => {};

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  link(proc: Proc): BusLink {
    const link = new BusLink(proc, this.#time, this);
    this.#links.add(link);
    return link;
  }

  /** Returns the links that packets of `from` reach, always including `from` itself. */
  reached(from: BusLink): BusLink[] {
    return [...this.#links].filter(
      (to) => !to.proc.dead && (to === from || (!from.isCut && !to.isCut && to.server === from.server)),
    );
  }
}

export class BusLink implements Transport {
  readonly proc: Proc;
  readonly connected$ = new BehaviorSubject(true);
  readonly breaks$ = NEVER;
  readonly lagMs = 0;
  /** Links of different servers do not reach each other. */
  server = 0;
  readonly #time: VirtualTime;
  readonly #bus: BusModel;
  readonly #responders = new Map<string, Responder>();
  readonly #listeners = new Map<string, Set<(packet: Publication) => void>>();

  constructor(proc: Proc, time: VirtualTime, bus: BusModel) {
    this.proc = proc;
    this.#time = time;
    this.#bus = bus;
  }

  get isCut(): boolean {
    return !this.connected$.value;
  }

  cut(isCut: boolean): void {
    if (this.isCut !== isCut) this.#time.as(this.proc, () => this.connected$.next(!isCut));
  }

  async request(subject: string, request: RequestPacket, timeoutMs: number): Promise<ReplyPacket> {
    const own = this.#responders.get(subject);
    if (own !== undefined) return own(request);
    await this.#time.pause(HOP_MS);
    if (this.isCut) throw new Disconnected(subject);
    const to = this.#bus.reached(this).find((link) => link.#responders.has(subject));
    if (to === undefined) throw new NoResponders(subject);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new RequestTimeout(subject)), timeoutMs);
      void to
        .#receive(() => to.#answer(subject, decode(encode(request)) as RequestPacket))
        .then(async (reply) => {
          await this.#time.pause(HOP_MS);
          if (this.isCut || to.isCut) return;
          clearTimeout(timer);
          resolve(decode(encode(reply)) as ReplyPacket);
        });
    });
  }

  forgetRoute(): void {}

  respond(subject: string, responder: Responder) {
    this.#responders.set(subject, responder);
    const end = () => {
      if (this.#responders.get(subject) === responder) this.#responders.delete(subject);
    };
    return { ready: this.#time.pause(HOP_MS), end };
  }

  publish(subject: string, packet: Publication): void {
    this.#bus.published(this.proc, packet);
    for (const to of this.#bus.reached(this)) {
      const received = decode(encode(packet)) as Publication;
      void to.#receive(async () => {
        for (const listener of to.#listeners.get(subject) ?? []) listener(received);
      });
    }
  }

  subscribe<P extends Publication>(subject: string, listener: (packet: P) => void) {
    const listeners = this.#listeners.get(subject) ?? new Set();
    this.#listeners.set(subject, listeners.add(listener as (packet: Publication) => void));
    return { ready: this.#time.pause(HOP_MS), end: () => void listeners.delete(listener as never) };
  }

  async close(): Promise<void> {}

  /** Runs the work one hop later as this process: a paused process receives when it wakes. */
  #receive<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      this.#time.as(this.proc, () => setTimeout(() => void work().then(resolve), HOP_MS));
    });
  }

  async #answer(subject: string, request: RequestPacket): Promise<ReplyPacket> {
    return (await this.#responders.get(subject)?.(request)) ?? { kind: 'notOwner' };
  }
}
