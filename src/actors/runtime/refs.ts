// Refs on top of a transport: an ask becomes a packet to the owner of the account's shard. While no node answers for the shard, the ask is
// repeated, for longer than a takeover takes. If another node begins to answer for the shard before the reply arrives, that node is asked
// too, with the same id. Faults are thrown as ActorFault, outcomes are values.

import { clock } from '../../store/clock.js';
import { StoreFault } from '../../store/errors.js';
import { newId } from '../../store/ids/new-id.js';
import { shardOf } from '../../store/shard.js';
import { ActorFault } from './errors.js';
import type { EventStreams } from './events/event-streams.js';
import type { Host } from './host.js';
import { type AskOutcome, type Meter, NO_METER } from './meter.js';
import { OwnerRetry } from './owner-retry.js';
import type { Ownership } from './ownership/ownership.js';
import { Relocations } from './ownership/relocations.js';
import type { EventOf, Protocol } from './protocol.js';
import type { AskOptions, Ref, Refs } from './ref.js';
import { NO_TRACER, type Tracer } from './tracing.js';
import { PACKET_VERSION, type ReplyPacket, type RequestPacket } from './transport/packet.js';
import { requestSubject } from './transport/subjects.js';
import {
  Congested,
  Disconnected,
  NoResponders,
  PacketTooLarge,
  RequestTimeout,
  type Transport,
} from './transport/transport.js';

const DEADLINE_MS = 10_000;
/** How long an ask waits for an owner: longer than a lease lasts, shorter than clients wait. */
const OWNER_WAIT_MS = 6_000;
/** After this time the owner is checked: it may have crashed with the request, which the bus does not report. */
const LATE_MS = 100;

export interface RefsOptions<P extends Protocol> {
  readonly protocol: P;
  readonly transport: Transport;
  readonly ownership: Pick<Ownership, 'shards' | 'epochOf' | 'relocations$' | 'missing'>;
  readonly streams: EventStreams<EventOf<P>>;
  /** The host of this node. */
  readonly host?: Pick<Host, 'positionOf'>;
  /** Makes asks fail when the store stops answering: the owner cannot commit, and soon owns nothing. */
  readonly store?: StoreAnswers;
  /** How long an ask waits for an owner, in ms; 6,000 by default. */
  readonly ownerWaitMs?: number;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
}

interface StoreAnswers {
  /** @throws when the store does not answer */
  run<T>(work: () => Promise<T>): Promise<T>;
}

type Opened = { readonly reply: unknown } | { readonly refusal: string };

export function createRefs<P extends Protocol>(options: RefsOptions<P>): Refs<P> {
  return new ActorRefs<P>(options);
}

class ActorRefs<P extends Protocol> implements Refs<P> {
  readonly #protocol: P;
  readonly #transport: Transport;
  readonly #ownership: Pick<Ownership, 'shards' | 'epochOf' | 'relocations$' | 'missing'>;
  readonly #streams: EventStreams<EventOf<P>>;
  readonly #host: Pick<Host, 'positionOf'> | undefined;
  readonly #store: StoreAnswers | undefined;
  readonly #ownerWaitMs: number;
  readonly #meter: Meter;
  readonly #tracer: Tracer;
  readonly #isWatched: boolean;
  readonly #relocations: Relocations;
  readonly #ownerRetry = new OwnerRetry();

  constructor(options: RefsOptions<P>) {
    const { protocol, transport, ownership, streams, host, store, ownerWaitMs = OWNER_WAIT_MS } = options;
    this.#protocol = protocol;
    this.#transport = transport;
    this.#ownership = ownership;
    this.#streams = streams;
    this.#host = host;
    this.#store = store;
    this.#ownerWaitMs = ownerWaitMs;
    const { meter = NO_METER, tracer = NO_TRACER } = options;
    this.#meter = meter;
    this.#tracer = tracer;
    this.#isWatched = this.#meter !== NO_METER || this.#tracer !== NO_TRACER;
    this.#ownership.relocations$.subscribe(({ shards }) => {
      for (const shard of shards) {
        this.#transport.forgetRoute(requestSubject(this.#protocol.name, shard));
        this.#ownerRetry.end(shard);
      }
    });
    // Subscribed later, so that asks that are repeated take no route to the former owner.
    this.#relocations = new Relocations(this.#ownership.relocations$);
  }

  of(accountId: string): Ref<P> {
    const host = this.#host;
    return {
      get position() {
        return host?.positionOf(accountId);
      },
      ask: (name, payload, ask_) => this.#ask(accountId, name, payload, ask_) as never,
      events$: (after) => this.#streams.of(accountId, after),
      resume: (from) => this.#streams.resume(accountId, from),
    };
  }

  #ask(accountId: string, name: string, payload: unknown, ask: AskOptions = {}): Promise<unknown> {
    const deadline = clock.now() + (ask.deadlineMs ?? DEADLINE_MS);
    const { id = newId(), carried } = ask;
    const asked = { v: PACKET_VERSION, id, accountId, name, payload, deadline };
    const request: RequestPacket = carried === undefined ? asked : { ...asked, carried };
    const carryOut = () => (this.#isWatched ? this.#watched(request) : this.#carriedOut(request));
    return this.#store === undefined ? carryOut() : this.#store.run(carryOut).catch(asActorFault);
  }

  /** A separate function, because one more promise per ask has a measurable cost. */
  async #watched(request: RequestPacket): Promise<Opened> {
    const began = this.#meter.now();
    const span = this.#tracer.start(`ask ${this.#protocol.name}.${request.name}`, { kind: 'client' });
    const { trace } = span;
    let outcome: AskOutcome = 'failed';
    try {
      const opened = await this.#carriedOut(trace === undefined ? request : { ...request, trace });
      outcome = 'refusal' in opened ? 'refusal' : 'reply';
      span.end();
      return opened;
    } catch (error) {
      if (error instanceof ActorFault) outcome = error.code;
      span.end(error);
      throw error;
    } finally {
      const local = this.#ownership.epochOf(request.accountId) !== undefined;
      this.#meter.asked(this.#protocol.name, outcome, local, this.#meter.now() - began);
    }
  }

  /** Repeats the ask until an owner answers or the time is over. */
  async #carriedOut(request: RequestPacket): Promise<Opened> {
    const { accountId, deadline } = request;
    const shard = shardOf(accountId, this.#ownership.shards);
    let giveUp: number | undefined;
    for (;;) {
      const reply = await this.#relocations.orRelocation(shard, this.#send(shard, request));
      // Another node now answers for the shard, and the first one may never answer.
      if (reply === undefined) continue;
      if (reply.kind === 'notOwner') {
        giveUp ??= Math.min(deadline, clock.now() + this.#ownerWaitMs);
        this.#meter.askRetried();
        if (await this.#ownerRetry.wait(shard, giveUp - clock.now())) continue;
        throw new ActorFault('unreachable', `no node answers for account ${accountId}`);
      }
      if (giveUp !== undefined) this.#ownerRetry.end(shard);
      if (reply.kind === 'fault') throw new ActorFault(reply.code, reply.message);
      if (reply.kind === 'reply') return { reply: reply.reply };
      this.#refuseUnknown(request.name, reply.refusal);
      return { refusal: reply.refusal };
    }
  }

  /** An owner of a later version may have refusals for which no caller of this one has an answer (decision 0082). */
  #refuseUnknown(name: string, refusal: string): void {
    if (this.#protocol.operations[name]?.refusals.includes(refusal) === true) return;
    throw new ActorFault('unsupported', `this node does not know the refusal ${refusal} of ${name}`);
  }

  async #send(shard: number, request: RequestPacket): Promise<ReplyPacket> {
    const subject = requestSubject(this.#protocol.name, shard);
    const isOwn = () => this.#ownership.epochOf(request.accountId) !== undefined;
    // A request to this node cannot outlive the owner.
    const late = isOwn() ? undefined : setTimeout(() => isOwn() || this.#ownership.missing(shard), LATE_MS);
    try {
      return await this.#transport.request(subject, request, Math.max(request.deadline - clock.now(), 1));
    } catch (error) {
      if (error instanceof NoResponders) this.#ownership.missing(shard);
      // Its caller has another way, and need not wait for the bus.
      if (error instanceof Disconnected && request.carried !== undefined) return unreachable('this node has no bus');
      if (error instanceof NoResponders || error instanceof Disconnected) return { kind: 'notOwner' };
      if (error instanceof RequestTimeout) {
        return unreachable(`account ${request.accountId} did not answer in time`);
      }
      if (error instanceof PacketTooLarge) throw new ActorFault('failed', error.message, error);
      if (error instanceof Congested) throw new ActorFault('overloaded', error.message, error);
      throw error;
    } finally {
      clearTimeout(late);
    }
  }
}

const unreachable = (message: string): ReplyPacket => ({ kind: 'fault', code: 'unreachable', message });

function asActorFault(error: unknown): never {
  if (error instanceof StoreFault) throw new ActorFault('store-unavailable', error.message, error);
  throw error;
}
