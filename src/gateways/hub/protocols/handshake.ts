// The first message of a hub connection in either direction: the client names its protocol, the server agrees with `{}` or answers with the
// reason for its refusal. Pure. Version 2 of the JSON protocol belongs to stateful reconnect, which is not offered, so clients ask for
// version 1.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/HubProtocol.md#overview
import type { HubProtocol } from './hub-protocol.js';
import { parseObject } from './json-protocol.js';
import { ProtocolError } from './protocol-error.js';
import { PROTOCOLS } from './protocols.js';
import { RECORD_SEPARATOR } from './text-format.js';

const VERSION = 1;

export const HANDSHAKE_ACCEPTED: Uint8Array = Buffer.from(`{}${RECORD_SEPARATOR}`);

export function handshakeRefused(error: string): Uint8Array {
  return Buffer.from(JSON.stringify({ error }) + RECORD_SEPARATOR);
}

/**
 * Returns the protocol that the client named.
 * @throws ProtocolError whose message is the error in the answer
 */
export function protocolNamedIn(handshake: Uint8Array): HubProtocol {
  const request = parseObject(handshake, 'A handshake');
  const { protocol: name, version } = request;
  if (typeof name !== 'string' || typeof version !== 'number') {
    throw new ProtocolError("A handshake needs 'protocol' (a string) and 'version' (a number).");
  }
  const protocol = PROTOCOLS.find((each) => each.name === name);
  if (protocol === undefined) {
    const names = PROTOCOLS.map((each) => `'${each.name}'`).join(' and ');
    throw new ProtocolError(`The protocol '${name.slice(0, 40)}' is not supported; ${names} are.`);
  }
  if (version !== VERSION) {
    throw new ProtocolError(`The server does not support version ${version} of the '${name}' protocol.`);
  }
  return protocol;
}
