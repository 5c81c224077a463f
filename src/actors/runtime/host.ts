// The host of a node's actors. Answers requests for the shards that the node owns, activates actors when requests address them, and
// passivates idle actors, or the least recently used ones when memory is short.
import type { Logger } from 'pino';
import { assert } from 'superstruct';
import { clock } from '../../store/clock.js';
import { randomOctets } from '../../store/ids/random-octets.js';
import { shardOf } from '../../store/shard.js';
import { Activation, type ActivationHost } from './activation.js';
import type { Behavior } from './behavior.js';
import { type Meter, NO_METER, outcomeOf } from './meter.js';
import type { Ownership, ShardListener } from './ownership/ownership.js';
import type { Protocol } from './protocol.js';
import { NO_SPAN, NO_TRACER, type Tracer } from './tracing.js';
import { type EventPacket, PACKET_VERSION, type ReplyPacket, type RequestPacket } from './transport/packet.js';
import { eventSubject, requestSubject } from './transport/subjects.js';
import type { Registration, Transport } from './transport/transport.js';

export interface HostOptions<P extends Protocol> {
  readonly protocol: P;
  readonly transport: Transport;
  readonly ownership: Pick<Ownership, 'shards' | 'epochOf' | 'recheck'>;
  readonly log: Logger;
  /** Idle actors are passivated after this long, in ms. */
  readonly idleMs: number;
  /** The memory for states, in octets; above it, the least recently used idle actors are passivated as soon as another actor grows. */
  readonly maxOctets: number;
  /** How often idleness and memory are checked, in ms. */
  readonly sweepMs: number;
  /** Check payloads and replies against the protocol's structs, as tests do: nodes trust each other, and gateways check their clients. */
  readonly checked: boolean;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
}

/** The sum over all actors in memory. */
interface HostLoad {
  readonly actors: number;
  /** Approximate memory of their states. */
  readonly octets: number;
  /** The number of commands in their queues. */
  readonly waiting: number;
}

export interface Host<P extends Protocol = Protocol> extends ShardListener {
  /**
   * Gives the actors their behavior, once, before the first shard is acquired. It comes apart from the host, because the handlers ask other
   * actors through refs, which know the host. `published` is called with each packet of events after its publication.
   */
  start<S, T, R, D>(behavior: Behavior<P, S, T, R, D>, published?: (packet: EventPacket) => void): void;
  /** The number of actors in memory. */
  readonly size: number;
  /** Computed over all actors on each read. */
  readonly load: HostLoad;
  /** The number of the account's newest change; undefined when the account is not owned or not in memory. */
  positionOf(accountId: string): number | undefined;
  /** Stops accepting requests and waits until the accepted ones are committed and answered. */
  stop(): Promise<void>;
}

/** The uncertain accounts that one sweep loads again: a database that has recovered must not be flooded. */
const RELOADS_A_SWEEP = 100;
/** The most actors that are checked to make room for one that has grown. */
const LOOKED_AT = 64;
/** The memory of an actor without its state: a queue and bookkeeping. */
const ACTIVATION_OCTETS = 1_000;
const NOTHING_RECEIVED = () => {};
const DAMAGED: ReplyPacket & { readonly kind: 'fault' } = {
  kind: 'fault',
  code: 'unsupported',
  message: 'what the request carries is damaged',
};
const NO_PAYLOAD: ReplyPacket = { kind: 'fault', code: 'failed', message: 'the request has no payload' };

export function createHost<P extends Protocol>(options: HostOptions<P>): Host<P> {
  return new ActorHost<P>(options);
}

/** Starts a host of actors that ask no other actors. */
export function startHost<P extends Protocol, S, T, R, D>({
  behavior,
  published,
  ...options
}: Omit<HostOptions<P>, 'protocol'> & {
  readonly behavior: Behavior<P, S, T, R, D>;
  readonly published?: (packet: EventPacket) => void;
}): Host<P> {
  const host = createHost<P>({ protocol: behavior.protocol, ...options });
  host.start(behavior, published);
  return host;
}

/** What the host needs of an activation, whatever its behavior is. */
type ActiveActor = Pick<
  Activation<Protocol, unknown, unknown>,
  'accountId' | 'epoch' | 'position' | 'waiting' | 'octets' | 'isIdle' | 'lastUsed' | 'receive'
>;

class ActorHost<P extends Protocol> implements Host<P> {
  readonly #options: HostOptions<P>;
  readonly #transport: Transport;
  readonly #ownership: Pick<Ownership, 'shards' | 'epochOf' | 'recheck'>;
  readonly #log: Logger;
  readonly #meter: Meter;
  readonly #tracer: Tracer;
  readonly #name: string;
  readonly #operations: Protocol['operations'];
  // The most recently used is the last.
  readonly #activations = new Map<string, ActiveActor>();
  /** Undefined until the host is started. */
  #activate: ((accountId: string, epoch: number) => ActiveActor) | undefined;
  #published: ((packet: EventPacket) => void) | undefined;
  #receive: ((carried: unknown) => (() => void) | undefined) | undefined;
  /** The approximate memory of all actors. */
  #octets = 0;
  /** Requests in progress, each with its shard. */
  readonly #underWay = new Map<Promise<ReplyPacket>, number>();
  readonly #responders = new Map<number, Registration>();
  /** Accounts whose last commit may have happened unpublished. */
  readonly #uncertain = new Set<string>();
  readonly #activationHost: ActivationHost;
  readonly #sweeping: NodeJS.Timeout;

  constructor(options: HostOptions<P>) {
    this.#options = options;
    const { protocol, transport, ownership, log, meter = NO_METER, tracer = NO_TRACER } = options;
    this.#transport = transport;
    this.#ownership = ownership;
    this.#log = log;
    this.#meter = meter;
    this.#tracer = tracer;
    this.#name = protocol.name;
    this.#operations = protocol.operations;
    this.#activationHost = this.#callbacks();
    this.#sweeping = setInterval(() => this.#sweep(), options.sweepMs);
  }

  start<S, T, R, D>(behavior: Behavior<P, S, T, R, D>, published?: (packet: EventPacket) => void): void {
    this.#published = published;
    this.#receive = (carried) => (behavior.receive === undefined ? NOTHING_RECEIVED : behavior.receive(carried));
    this.#activate = (accountId, epoch) => new Activation(behavior, this.#activationHost, accountId, epoch);
  }

  async acquired(shards: readonly number[]): Promise<void> {
    for (const shard of shards) {
      if (!this.#responders.has(shard))
        this.#responders.set(
          shard,
          this.#transport.respond(requestSubject(this.#name, shard), (request) => this.#tracked(request)),
        );
    }
    await Promise.all(shards.map((shard) => this.#responders.get(shard)?.ready));
  }

  async released(shards: readonly number[]): Promise<void> {
    const leaving = new Set(shards);
    for (const shard of leaving) {
      this.#responders.get(shard)?.end();
      this.#responders.delete(shard);
    }
    // Collected before the wait: the shards may be acquired again before the last answer is sent.
    const taken = [...this.#underWay].filter(([, shard]) => leaving.has(shard)).map(([reply]) => reply);
    const over = [...this.#activations].filter(([accountId]) =>
      leaving.has(shardOf(accountId, this.#ownership.shards)),
    );
    await Promise.allSettled(taken);
    for (const [accountId, activation] of over) {
      if (this.#activations.get(accountId) === activation) this.#remove(accountId);
    }
    for (const accountId of this.#uncertain)
      if (leaving.has(shardOf(accountId, this.#ownership.shards))) this.#recheckFollowers(accountId);
  }

  get size() {
    return this.#activations.size;
  }

  get load(): HostLoad {
    let waiting = 0;
    for (const activation of this.#activations.values()) waiting += activation.waiting;
    return { actors: this.#activations.size, octets: this.#octets, waiting };
  }

  positionOf(accountId: string): number | undefined {
    const activation = this.#activations.get(accountId);
    return activation?.epoch === this.#ownership.epochOf(accountId) ? activation?.position : undefined;
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweeping);
    for (const responder of this.#responders.values()) responder.end();
    while (this.#underWay.size > 0) await Promise.allSettled([...this.#underWay.keys()]);
    this.#activations.clear();
    this.#octets = 0;
    for (const accountId of this.#uncertain) this.#recheckFollowers(accountId);
  }

  /** What an activation tells its host and asks of it. */
  #callbacks(): ActivationHost {
    return {
      log: this.#log,
      tracer: this.#tracer,
      now: () => clock.now(),
      random: randomOctets(),
      publish: (packet) => {
        this.#meter.published(packet.events.length);
        this.#transport.publish(eventSubject(this.#name, packet.accountId), packet);
        this.#published?.(packet);
      },
      loaded: () => this.#meter.loaded(),
      grown: (activation, by) => {
        if (this.#activations.get(activation.accountId) !== activation) return;
        this.#octets += by;
        if (this.#octets > this.#options.maxOctets) this.#makeRoom(activation);
      },
      uncertain: (accountId) => void this.#uncertain.add(accountId),
      fenced: () => {
        this.#meter.fenced();
        this.#ownership.recheck();
      },
      ended: (ended) => {
        if (this.#activations.get(ended.accountId) === ended) this.#remove(ended.accountId);
      },
    };
  }

  async #respond(request: RequestPacket): Promise<ReplyPacket> {
    const epoch = this.#ownership.epochOf(request.accountId);
    if (epoch === undefined) return { kind: 'notOwner' };
    if (typeof request.payload !== 'object' || request.payload === null) return NO_PAYLOAD;
    const operation = this.#operations[request.name];
    if (this.#options.checked && operation !== undefined) assert(request.payload, operation.payload);
    const reply = await (request.carried === undefined
      ? this.#activationOf(request.accountId, epoch).receive(request)
      : this.#receiving(request, epoch));
    if (this.#options.checked && reply.kind === 'reply' && operation !== undefined)
      assert(reply.reply, operation.reply);
    return reply;
  }

  /** The behavior has what the request carries until the answer. */
  async #receiving(request: RequestPacket, epoch: number): Promise<ReplyPacket> {
    const { accountId, name, carried } = request;
    const answered = this.#receive?.(carried);
    if (answered === undefined) {
      this.#log.warn({ accountId, operation: name, why: DAMAGED.message }, 'a request was not understood');
      return DAMAGED;
    }
    try {
      return await this.#activationOf(accountId, epoch).receive(request);
    } finally {
      answered();
    }
  }

  #activationOf(accountId: string, epoch: number): ActiveActor {
    const known = this.#activations.get(accountId);
    if (known?.epoch === epoch) {
      this.#activations.delete(accountId);
      this.#activations.set(accountId, known);
      return known;
    }
    this.#remove(accountId);
    if (this.#activate === undefined) throw new Error('the host has not been started');
    const activation = this.#activate(accountId, epoch);
    this.#activations.set(accountId, activation);
    this.#octets += ACTIVATION_OCTETS;
    return activation;
  }

  #remove(accountId: string): void {
    const activation = this.#activations.get(accountId);
    if (activation === undefined) return;
    this.#activations.delete(accountId);
    this.#octets -= activation.octets + ACTIVATION_OCTETS;
  }

  /** Makes room without waiting for the next sweep. If the first actors are not idle, the rest is left to the sweep. */
  #makeRoom(beside: { readonly accountId: string }): void {
    const before = this.#activations.size;
    let looked = 0;
    for (const [accountId, activation] of this.#activations) {
      if (this.#octets <= this.#options.maxOctets || looked++ === LOOKED_AT) break;
      if (activation.isIdle && activation !== beside) this.#remove(accountId);
    }
    if (this.#activations.size < before) this.#meter.passivated(before - this.#activations.size);
  }

  #tracked(request: RequestPacket): Promise<ReplyPacket> {
    const began = this.#meter.now();
    const operation = this.#operations[request.name] === undefined ? 'unknown' : request.name;
    const span = this.#tracer.start(`${this.#name}.${operation}`, { kind: 'server', parent: request.trace });
    const { trace } = span;
    const traced = trace === undefined ? request : { ...request, trace };
    const reply = span
      .within(() => this.#respond(traced))
      .catch((error: unknown): ReplyPacket => {
        this.#log.error(
          { accountId: request.accountId, operation: request.name, err: error },
          'request could not be carried out',
        );
        return { kind: 'fault', code: 'failed', message: error instanceof Error ? error.message : String(error) };
      });
    this.#underWay.set(reply, shardOf(request.accountId, this.#ownership.shards));
    return reply.then((answer) => {
      this.#underWay.delete(reply);
      const outcome = outcomeOf(answer);
      this.#meter.answered(this.#name, operation, outcome, this.#meter.now() - began);
      if (span === NO_SPAN) return answer;
      span.set({ 'mansio.outcome': outcome });
      span.end(answer.kind === 'fault' ? answer : undefined);
      return answer;
    });
  }

  /** Makes followers read the log: the last commit may be unpublished, and the next owner may not load the account for long. */
  #recheckFollowers(accountId: string): void {
    this.#uncertain.delete(accountId);
    this.#transport.publish(eventSubject(this.#name, accountId), { v: PACKET_VERSION, kind: 'recheck' });
  }

  /**
   * Loads uncertain accounts again, because a load publishes the position: otherwise followers would miss the last commit until the next
   * request.
   */
  #reloadUncertain(): void {
    for (const accountId of [...this.#uncertain].slice(0, RELOADS_A_SWEEP)) {
      const epoch = this.#ownership.epochOf(accountId);
      if (epoch === undefined) this.#recheckFollowers(accountId);
      else {
        this.#uncertain.delete(accountId);
        this.#activationOf(accountId, epoch);
      }
    }
  }

  #sweep(): void {
    this.#reloadUncertain();
    const idleSince = clock.now() - this.#options.idleMs;
    const before = this.#activations.size;
    for (const [accountId, activation] of this.#activations) {
      if (!activation.isIdle) continue;
      if (activation.lastUsed > idleSince && this.#octets <= this.#options.maxOctets) continue;
      this.#remove(accountId);
    }
    if (this.#activations.size < before) this.#meter.passivated(before - this.#activations.size);
  }
}
