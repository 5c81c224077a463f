// The hubs of other nodes, over the bus: a request of a client without a WebSocket is executed on the node that has its connection. Each
// hub answers on a subject with its own id, which changes with a restart: so nobody answers for connections that are gone.
import type { Logger } from 'pino';
import { PACKET_VERSION, type ReplyPacket, type RequestPacket } from '../../actors/runtime/transport/packet.js';
import { hubSubject } from '../../actors/runtime/transport/subjects.js';
import { NoResponders, type Transport } from '../../actors/runtime/transport/transport.js';
import type { HubPeers } from '../../gateways/hub/fallbacks/fallback-transports.js';
import { isPolledKind, type PolledReply, type PolledRequest } from '../../gateways/hub/fallbacks/polled-connections.js';
import { clock } from '../../store/clock.js';
import { newId } from '../../store/ids/new-id.js';

/** Longer than a poll between nodes takes. */
const TIMEOUT_MS = 10_000;

/** A request as JSON. */
interface Payload extends Omit<PolledRequest, 'kind' | 'octets'> {
  readonly base64?: string;
}

/** A reply as JSON. */
type Reply =
  | Exclude<PolledReply, { readonly kind: 'frames' }>
  | (Omit<Extract<PolledReply, { readonly kind: 'frames' }>, 'octets'> & { readonly base64: string });

export function createHubPeers(transport: Pick<Transport, 'request' | 'respond'>, log: Logger): HubPeers {
  return {
    async ask(hubId, request) {
      try {
        const reply = await transport.request(hubSubject(hubId), packetOf(request), TIMEOUT_MS);
        if (reply.kind === 'reply') return replyOf(reply.reply as Reply);
        log.warn({ hubId, reply }, 'the hub of another node could not carry out a request');
      } catch (err) {
        if (!(err instanceof NoResponders)) log.warn({ err, hubId }, 'the hub of another node cannot be reached');
      }
      return undefined;
    },

    serve(hubId, carryOut) {
      const registration = transport.respond(hubSubject(hubId), async ({ name, payload }): Promise<ReplyPacket> => {
        if (!isPolledKind(name)) return { kind: 'fault', code: 'unsupported', message: `no request is called ${name}` };
        const { base64, ...request } = payload as Payload;
        const octets = base64 === undefined ? {} : { octets: Buffer.from(base64, 'base64') };
        return { kind: 'reply', reply: jsonOf(await carryOut({ kind: name, ...request, ...octets })) };
      });
      return () => registration.end();
    },
  };
}

function packetOf({ kind, octets, ...rest }: PolledRequest): RequestPacket {
  const payload: Payload = { ...rest, ...(octets && { base64: Buffer.from(octets).toString('base64') }) };
  const { accountId } = rest.opening;
  return { v: PACKET_VERSION, id: newId(), accountId, name: kind, payload, deadline: clock.now() + TIMEOUT_MS };
}

function jsonOf(reply: PolledReply): Reply {
  if (reply.kind !== 'frames') return reply;
  const { octets, ...rest } = reply;
  return { ...rest, base64: Buffer.from(octets).toString('base64') };
}

function replyOf(reply: Reply): PolledReply {
  if (reply.kind !== 'frames') return reply;
  const { base64, ...rest } = reply;
  return { ...rest, octets: Buffer.from(base64, 'base64') };
}
