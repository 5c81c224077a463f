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
import { Disconnected, NoResponders, PacketTooLarge, RequestTimeout, type Transport } from './transport/transport.js';

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
  const { protocol, transport, ownership, streams, host, store, ownerWaitMs = OWNER_WAIT_MS } = options;
  const { meter = NO_METER, tracer = NO_TRACER } = options;
  const isWatched = meter !== NO_METER || tracer !== NO_TRACER;
  const relocations = new Relocations(ownership.relocations$);
  const ownerRetry = new OwnerRetry();
  ownership.relocations$.subscribe(({ shards }) => {
    for (const shard of shards) ownerRetry.end(shard);
  });

  function ask(accountId: string, name: string, payload: unknown, ask: AskOptions = {}): Promise<unknown> {
    const deadline = clock.now() + (ask.deadlineMs ?? DEADLINE_MS);
    const request: RequestPacket = { v: PACKET_VERSION, id: newId(), accountId, name, payload, deadline };
    const carryOut = () => (isWatched ? watched(request) : carriedOut(request));
    return store === undefined ? carryOut() : store.run(carryOut).catch(asActorFault);
  }

  /** A separate function, because one more promise per ask has a measurable cost. */
  async function watched(request: RequestPacket): Promise<Opened> {
    const began = meter.now();
    const span = tracer.start(`ask ${protocol.name}.${request.name}`, { kind: 'client' });
    const { trace } = span;
    let outcome: AskOutcome = 'failed';
    try {
      const opened = await carriedOut(trace === undefined ? request : { ...request, trace });
      outcome = 'refusal' in opened ? 'refusal' : 'reply';
      span.end();
      return opened;
    } catch (error) {
      if (error instanceof ActorFault) outcome = error.code;
      span.end(error);
      throw error;
    } finally {
      const local = ownership.epochOf(request.accountId) !== undefined;
      meter.asked(protocol.name, outcome, local, meter.now() - began);
    }
  }

  /** Repeats the ask until an owner answers or the time is over. */
  async function carriedOut(request: RequestPacket): Promise<Opened> {
    const { accountId, deadline } = request;
    const shard = shardOf(accountId, ownership.shards);
    let giveUp: number | undefined;
    for (;;) {
      const reply = await relocations.orRelocation(shard, send(shard, request));
      // Another node now answers for the shard, and the first one may never answer.
      if (reply === undefined) continue;
      if (reply.kind === 'notOwner') {
        giveUp ??= Math.min(deadline, clock.now() + ownerWaitMs);
        meter.askRetried();
        if (await ownerRetry.wait(shard, giveUp - clock.now())) continue;
        throw new ActorFault('unreachable', `no node answers for account ${accountId}`);
      }
      if (giveUp !== undefined) ownerRetry.end(shard);
      if (reply.kind === 'fault') throw new ActorFault(reply.code, reply.message);
      return reply.kind === 'reply' ? { reply: reply.reply } : { refusal: reply.refusal };
    }
  }

  async function send(shard: number, request: RequestPacket): Promise<ReplyPacket> {
    const subject = requestSubject(protocol.name, shard);
    const isOwn = () => ownership.epochOf(request.accountId) !== undefined;
    // A request to this node cannot outlive the owner.
    const late = isOwn() ? undefined : setTimeout(() => isOwn() || ownership.missing(shard), LATE_MS);
    try {
      return await transport.request(subject, request, Math.max(request.deadline - clock.now(), 1));
    } catch (error) {
      if (error instanceof NoResponders) ownership.missing(shard);
      if (error instanceof NoResponders || error instanceof Disconnected) return { kind: 'notOwner' };
      if (error instanceof RequestTimeout) {
        return { kind: 'fault', code: 'unreachable', message: `account ${request.accountId} did not answer in time` };
      }
      if (error instanceof PacketTooLarge) return { kind: 'fault', code: 'failed', message: error.message };
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  return {
    of(accountId): Ref<P> {
      return {
        get position() {
          return host?.positionOf(accountId);
        },
        ask: (name, payload, ask_) => ask(accountId, name, payload, ask_) as never,
        events$: (after) => streams.of(accountId, after),
        resume: (from) => streams.resume(accountId, from),
      };
    },
  };
}

function asActorFault(error: unknown): never {
  if (error instanceof StoreFault) throw new ActorFault('store-unavailable', error.message, error);
  throw error;
}
