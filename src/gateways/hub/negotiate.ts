// Negotiation: the server's offer (WebSockets) and the token with which the client then connects. The token has no
// meaning on the server: the upgrade is authenticated by itself, so any node accepts it and no node keeps a session.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/TransportProtocols.md
import { createHash, randomBytes } from 'node:crypto';
import type { HttpAnswer } from '../web-socket.js';

const LATEST = 1;
const TRANSPORTS = [{ transport: 'WebSockets', transferFormats: ['Text', 'Binary'] }];
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;

export function negotiateAnswer(query: URLSearchParams): HttpAnswer {
  const asked = query.get('negotiateVersion') ?? '0';
  if (!/^\d{1,9}$/.test(asked)) {
    return json({ error: `The client requested an invalid protocol version '${asked.slice(0, 40)}'.` });
  }
  const negotiateVersion = Math.min(Number(asked), LATEST);
  const connectionToken = randomToken();
  // Version 0 has no token: clients connect with the id.
  if (negotiateVersion === 0) {
    return json({ negotiateVersion, connectionId: connectionToken, availableTransports: TRANSPORTS });
  }
  const connectionId = connectionIdOf(connectionToken);
  return json({ negotiateVersion, connectionId, connectionToken, availableTransports: TRANSPORTS });
}

/** Id of the connection that an upgrade opens, a new one without negotiation; undefined when `id` is malformed. */
export function connectionIdFor(query: URLSearchParams): string | undefined {
  const token = query.get('id') ?? randomToken();
  return TOKEN.test(token) ? connectionIdOf(token) : undefined;
}

/** Derived from the token, so that all nodes log the same id. */
function connectionIdOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url').slice(0, 22);
}

function randomToken(): string {
  return randomBytes(16).toString('base64url');
}

function json(body: object): HttpAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify(body),
  };
}
