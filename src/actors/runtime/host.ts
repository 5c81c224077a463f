// The host of a node's actors. Answers requests for the shards that the node owns, activates actors when requests address them, and
// passivates idle actors, or the least recently used ones when memory is short.
import type { Logger } from 'pino';
import { assert, mask } from 'superstruct';
import { clock } from '../../store/clock.js';
import { randomOctets } from '../../store/ids/random-octets.js';
import { shardOf } from '../../store/shard.js';
import { Activation } from './activation.js';
import type { Behavior } from './behavior.js';
import { type Meter, NO_METER, outcomeOf } from './meter.js';
import type { Ownership, ShardListener } from './ownership/ownership.js';
import type { Protocol } from './protocol.js';
import { NO_SPAN, NO_TRACER, type Tracer } from './tracing.js';
import { type EventPacket, PACKET_VERSION, type ReplyPacket, type RequestPacket } from './transport/packet.js';
import { eventSubject, requestSubject } from './transport/subjects.js';
import type { Registration, Transport } from './transport/transport.js';

export interface HostOptions<P extends Protocol, S, T, R, D> {
  readonly behavior: Behavior<P, S, T, R, D>;
  readonly transport: Transport;
  readonly ownership: Pick<Ownership, 'shards' | 'epochOf' | 'recheck'>;
  readonly log: Logger;
  /** Idle actors are passivated after this long, in ms. */
  readonly idleMs: number;
  /** The memory for states, in octets; above it, the least recently used idle actors are passivated as soon as another actor grows. */
  readonly maxOctets: number;
  /** How often idleness and memory are checked, in ms. */
  readonly sweepMs: number;
  /**
   * Also check this node's own payloads and replies against the protocol's structs, as tests do; those of other nodes always are checked.
   */
  readonly checked: boolean;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
  /** Called with each packet of events after its publication. */
  readonly published?: (packet: EventPacket) => void;
}

/** The sum over all actors in memory. */
interface HostLoad {
  readonly actors: number;
  /** Approximate memory of their states. */
  readonly octets: number;
  /** The number of commands in their queues. */
  readonly waiting: number;
}

export interface Host extends ShardListener {
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

export function startHost<P extends Protocol, S, T, R, D>(options: HostOptions<P, S, T, R, D>): Host {
  const { behavior, transport, ownership, log, meter = NO_METER, tracer = NO_TRACER } = options;
  const { name, operations } = behavior.protocol;
  // The most recently used is the last.
  const activations = new Map<string, Activation<P, S, T, R, D>>();
  /** The approximate memory of all actors. */
  let octets = 0;
  /** Requests in progress, each with its shard. */
  const underWay = new Map<Promise<ReplyPacket>, number>();
  const responders = new Map<number, Registration>();
  /** Accounts whose last commit may have happened unpublished. */
  const uncertain = new Set<string>();

  const activationHost = {
    log,
    tracer,
    now: () => clock.now(),
    random: randomOctets(),
    publish: (packet: EventPacket) => {
      meter.published(packet.events.length);
      transport.publish(eventSubject(name, packet.accountId), packet);
      options.published?.(packet);
    },
    loaded: () => meter.loaded(),
    grown: (activation: { readonly accountId: string }, by: number) => {
      if (activations.get(activation.accountId) !== activation) return;
      octets += by;
      if (octets > options.maxOctets) makeRoom(activation);
    },
    uncertain: (accountId: string) => void uncertain.add(accountId),
    fenced: () => {
      meter.fenced();
      ownership.recheck();
    },
    ended: (ended: { readonly accountId: string }) => {
      if (activations.get(ended.accountId) === ended) remove(ended.accountId);
    },
  };

  async function respond(request: RequestPacket, foreign: boolean): Promise<ReplyPacket> {
    const epoch = ownership.epochOf(request.accountId);
    if (epoch === undefined) return { kind: 'notOwner' };
    const operation = operations[request.name];
    if (options.checked && operation !== undefined) assert(request.payload, operation.payload);
    const reply = await activationOf(request.accountId, epoch).receive(foreign ? understood(request) : request);
    if (options.checked && reply.kind === 'reply' && operation !== undefined) assert(reply.reply, operation.reply);
    return reply;
  }

  /** Drops fields that a later version has added. @throws StructError */
  function understood(request: RequestPacket): RequestPacket {
    const operation = operations[request.name];
    return operation === undefined ? request : { ...request, payload: mask(request.payload, operation.payload) };
  }

  function activationOf(accountId: string, epoch: number): Activation<P, S, T, R, D> {
    const known = activations.get(accountId);
    if (known?.epoch === epoch) {
      activations.delete(accountId);
      activations.set(accountId, known);
      return known;
    }
    remove(accountId);
    const activation = new Activation(behavior, activationHost, accountId, epoch);
    activations.set(accountId, activation);
    octets += ACTIVATION_OCTETS;
    return activation;
  }

  function remove(accountId: string): void {
    const activation = activations.get(accountId);
    if (activation === undefined) return;
    activations.delete(accountId);
    octets -= activation.octets + ACTIVATION_OCTETS;
  }

  /** Makes room without waiting for the next sweep. If the first actors are not idle, the rest is left to the sweep. */
  function makeRoom(beside: { readonly accountId: string }): void {
    const before = activations.size;
    let looked = 0;
    for (const [accountId, activation] of activations) {
      if (octets <= options.maxOctets || looked++ === LOOKED_AT) break;
      if (activation.isIdle && activation !== beside) remove(accountId);
    }
    if (activations.size < before) meter.passivated(before - activations.size);
  }

  function tracked(request: RequestPacket, foreign = false): Promise<ReplyPacket> {
    const began = meter.now();
    const operation = operations[request.name] === undefined ? 'unknown' : request.name;
    const span = tracer.start(`${name}.${operation}`, { kind: 'server', parent: request.trace });
    const { trace } = span;
    const traced = trace === undefined ? request : { ...request, trace };
    const reply = span
      .within(() => respond(traced, foreign))
      .catch((error: unknown): ReplyPacket => {
        log.error(
          { accountId: request.accountId, operation: request.name, err: error },
          'request could not be carried out',
        );
        return { kind: 'fault', code: 'failed', message: error instanceof Error ? error.message : String(error) };
      });
    underWay.set(reply, shardOf(request.accountId, ownership.shards));
    return reply.then((answer) => {
      underWay.delete(reply);
      const outcome = outcomeOf(answer);
      meter.answered(name, operation, outcome, meter.now() - began);
      if (span === NO_SPAN) return answer;
      span.set({ 'mansio.outcome': outcome });
      span.end(answer.kind === 'fault' ? answer : undefined);
      return answer;
    });
  }

  async function acquired(shards: readonly number[]): Promise<void> {
    for (const shard of shards) {
      if (!responders.has(shard)) responders.set(shard, transport.respond(requestSubject(name, shard), tracked));
    }
    await Promise.all(shards.map((shard) => responders.get(shard)?.ready));
  }

  async function released(shards: readonly number[]): Promise<void> {
    const leaving = new Set(shards);
    for (const shard of leaving) {
      responders.get(shard)?.end();
      responders.delete(shard);
    }
    // Collected before the wait: the shards may be acquired again before the last answer is sent.
    const taken = [...underWay].filter(([, shard]) => leaving.has(shard)).map(([reply]) => reply);
    const over = [...activations].filter(([accountId]) => leaving.has(shardOf(accountId, ownership.shards)));
    await Promise.allSettled(taken);
    for (const [accountId, activation] of over) {
      if (activations.get(accountId) === activation) remove(accountId);
    }
    for (const accountId of uncertain)
      if (leaving.has(shardOf(accountId, ownership.shards))) recheckFollowers(accountId);
  }

  /** Makes followers read the log: the last commit may be unpublished, and the next owner may not load the account for long. */
  function recheckFollowers(accountId: string): void {
    uncertain.delete(accountId);
    transport.publish(eventSubject(name, accountId), { v: PACKET_VERSION, kind: 'recheck' });
  }

  /**
   * Loads uncertain accounts again, because a load publishes the position: otherwise followers would miss the last commit until the next
   * request.
   */
  function reloadUncertain(): void {
    for (const accountId of [...uncertain].slice(0, RELOADS_A_SWEEP)) {
      const epoch = ownership.epochOf(accountId);
      if (epoch === undefined) recheckFollowers(accountId);
      else {
        uncertain.delete(accountId);
        activationOf(accountId, epoch);
      }
    }
  }

  function sweep(): void {
    reloadUncertain();
    const idleSince = clock.now() - options.idleMs;
    const before = activations.size;
    for (const [accountId, activation] of activations) {
      if (!activation.isIdle) continue;
      if (activation.lastUsed > idleSince && octets <= options.maxOctets) continue;
      remove(accountId);
    }
    if (activations.size < before) meter.passivated(before - activations.size);
  }

  function load(): HostLoad {
    let waiting = 0;
    for (const activation of activations.values()) waiting += activation.waiting;
    return { actors: activations.size, octets, waiting };
  }

  const sweeping = setInterval(sweep, options.sweepMs);
  return {
    get size() {
      return activations.size;
    },
    get load() {
      return load();
    },
    positionOf(accountId) {
      const activation = activations.get(accountId);
      return activation?.epoch === ownership.epochOf(accountId) ? activation?.position : undefined;
    },
    acquired,
    released,
    async stop() {
      clearInterval(sweeping);
      for (const responder of responders.values()) responder.end();
      while (underWay.size > 0) await Promise.allSettled([...underWay.keys()]);
      activations.clear();
      octets = 0;
      for (const accountId of uncertain) recheckFollowers(accountId);
    },
  };
}
