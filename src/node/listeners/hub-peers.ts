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

export function createHubPeers(transport: Pick<Transport, 'request' | 'respond'>, log: Logger): HubPeers {
  return {
    async ask(hubId, request) {
      try {
        const reply = await transport.request(hubSubject(hubId), packetOf(request), TIMEOUT_MS);
        if (reply.kind === 'reply') return reply.reply as PolledReply;
        log.warn({ hubId, reply }, 'the hub of another node could not carry out a request');
      } catch (err) {
        if (!(err instanceof NoResponders)) log.warn({ err, hubId }, 'the hub of another node cannot be reached');
      }
      return undefined;
    },

    serve(hubId, carryOut) {
      const registration = transport.respond(hubSubject(hubId), async ({ name, payload }): Promise<ReplyPacket> => {
        if (!isPolledKind(name)) return { kind: 'fault', code: 'unsupported', message: `no request is called ${name}` };
        const request = payload as Omit<PolledRequest, 'kind'>;
        return { kind: 'reply', reply: await carryOut({ kind: name, ...request }) };
      });
      return () => registration.end();
    },
  };
}

function packetOf({ kind, ...payload }: PolledRequest): RequestPacket {
  const { accountId } = payload.opening;
  return { v: PACKET_VERSION, id: newId(), accountId, name: kind, payload, deadline: clock.now() + TIMEOUT_MS };
}
