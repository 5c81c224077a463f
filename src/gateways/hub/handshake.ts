// The first message of a hub connection in either direction: the client names the protocol it will speak, the server
// agrees with `{}` or answers the reason of its refusal. Pure. Version 2 of the JSON protocol belongs to stateful reconnect, which is not
// offered, so clients ask for version 1.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/HubProtocol.md#overview
import { parseObject } from './json-codec.js';
import { ProtocolError } from './protocol-error.js';
import { RECORD_SEPARATOR } from './text-format.js';

const PROTOCOL = 'json';
const VERSION = 1;

export const HANDSHAKE_ACCEPTED = `{}${RECORD_SEPARATOR}`;

export function handshakeRefused(error: string): string {
  return JSON.stringify({ error }) + RECORD_SEPARATOR;
}

/** @throws ProtocolError whose message is the error to answer with. */
export function checkHandshake(text: string): void {
  const request = parseObject(text, 'A handshake');
  const { protocol, version } = request;
  if (typeof protocol !== 'string' || typeof version !== 'number') {
    throw new ProtocolError("A handshake needs 'protocol' (a string) and 'version' (a number).");
  }
  if (protocol !== PROTOCOL) {
    throw new ProtocolError(`The protocol '${protocol.slice(0, 40)}' is not supported; '${PROTOCOL}' is.`);
  }
  if (version !== VERSION) {
    throw new ProtocolError(`The server does not support version ${version} of the '${PROTOCOL}' protocol.`);
  }
}
