// Negotiation: the server's offer of transports, and the token with which the client then connects. The server stores nothing: any node
// accepts a WebSocket with the token, and requests of the other transports find the hub that the token names.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/TransportProtocols.md
import type { HttpAnswer } from '../web-socket.js';
import { connectionIdOf } from './connection-token.js';

const LATEST = 1;
const TRANSPORTS = [
  { transport: 'WebSockets', transferFormats: ['Text', 'Binary'] },
  { transport: 'ServerSentEvents', transferFormats: ['Text'] },
  { transport: 'LongPolling', transferFormats: ['Text', 'Binary'] },
];

export function negotiateAnswer(query: URLSearchParams, connectionToken: string): HttpAnswer {
  const asked = query.get('negotiateVersion') ?? '0';
  if (!/^\d{1,9}$/.test(asked)) {
    return json({ error: `The client requested an invalid protocol version '${asked.slice(0, 40)}'.` });
  }
  const negotiateVersion = Math.min(Number(asked), LATEST);
  // Version 0 has no token: clients connect with the id.
  if (negotiateVersion === 0) {
    return json({ negotiateVersion, connectionId: connectionToken, availableTransports: TRANSPORTS });
  }
  const connectionId = connectionIdOf(connectionToken);
  return json({ negotiateVersion, connectionId, connectionToken, availableTransports: TRANSPORTS });
}

function json(body: object): HttpAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify(body),
  };
}
