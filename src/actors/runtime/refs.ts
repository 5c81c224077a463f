// Refs made from a transport: an ask becomes a packet to the owner of the account's shard, tried again while nobody owns
// it, for about as long as a takeover lasts. Faults come back as ActorFault, outcomes as values.
import { shardOf } from '../../store/shard.js';
import { ActorFault } from './errors.js';
import type { EventStreams } from './event-streams.js';
import { PACKET_VERSION, type ReplyPacket, type RequestPacket } from './packet.js';
import type { EventOf, Protocol } from './protocol.js';
import type { AskOptions, Ref, Refs } from './ref.js';
import { requestSubject } from './subjects.js';
import { NoResponders, RequestTimeout, type Transport } from './transport.js';

const DEADLINE_MS = 10_000;
/** How long to look for an owner when there is none: longer than a takeover, shorter than a client's patience. */
const LOOK_MS = 2_000;
/** Pause before looking for the owner again. */
const LOOK_AGAIN_MS = 25;

export interface RefsOptions<P extends Protocol> {
  readonly protocol: P;
  readonly transport: Transport;
  readonly shards: number;
  readonly streams: EventStreams<EventOf<P>>;
}

export function createRefs<P extends Protocol>(options: RefsOptions<P>): Refs<P> {
  const { protocol, transport, shards, streams } = options;

  async function ask(accountId: string, name: string, payload: unknown, ask: AskOptions = {}): Promise<unknown> {
    const deadline = Date.now() + (ask.deadlineMs ?? DEADLINE_MS);
    const subject = requestSubject(protocol.name, shardOf(accountId, shards));
    const request: RequestPacket = { v: PACKET_VERSION, accountId, name, payload, deadline };
    let giveUp: number | undefined;
    for (;;) {
      const reply = await attempt(subject, request);
      if (reply.kind === 'reply') return { reply: reply.reply };
      if (reply.kind === 'refusal') return { refusal: reply.refusal };
      if (reply.kind === 'fault') throw new ActorFault(reply.code, reply.message);
      giveUp ??= Math.min(deadline, Date.now() + LOOK_MS);
      if (Date.now() + LOOK_AGAIN_MS >= giveUp) {
        throw new ActorFault('unreachable', `nobody answers for account ${accountId}`);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }

  async function attempt(subject: string, request: RequestPacket): Promise<ReplyPacket> {
    try {
      return await transport.request(subject, request, Math.max(request.deadline - Date.now(), 1));
    } catch (error) {
      if (error instanceof NoResponders) return { kind: 'notOwner' };
      if (error instanceof RequestTimeout) {
        throw new ActorFault('unreachable', `account ${request.accountId} did not answer in time`, error);
      }
      throw error;
    }
  }

  return {
    of(accountId): Ref<P> {
      return {
        ask: (name, payload, ask_) => ask(accountId, name, payload, ask_) as never,
        events$: (after) => streams.of(accountId, after),
      };
    },
  };
}
