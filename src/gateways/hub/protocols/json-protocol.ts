// The SignalR JSON hub protocol, version 1: converts messages to and from the text between record separators. Pure. text-format.ts has the
// framing, handshake.ts the first message of a connection.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/HubProtocol.md
import { JsonExcess, parseBounded } from '../../../net/json-scan.js';
import { type HubMessage, PING } from './hub-messages.js';
import type { HubProtocol } from './hub-protocol.js';
import { messageOf } from './message-fields.js';
import { ProtocolError } from './protocol-error.js';
import { RECORD_SEPARATOR, splitText, textOf } from './text-format.js';

export const JSON_PROTOCOL: HubProtocol = {
  name: 'json',
  index: 0,
  isBinary: false,
  ping: encoded({ type: PING }),
  encode: encoded,
  split: splitText,
  parse: (message) => messageOf(parseObject(message, 'A hub message')),
};

function encoded(message: HubMessage): Uint8Array {
  return Buffer.from(JSON.stringify(message) + RECORD_SEPARATOR);
}

/** @throws ProtocolError when the octets are not a JSON object in UTF-8. */
export function parseObject(octets: Uint8Array, what: string): Record<string, unknown> {
  const text = textOf(octets);
  let value: unknown;
  try {
    value = parseBounded(text);
  } catch (error) {
    throw new ProtocolError(`${what} that ${error instanceof JsonExcess ? error.message : 'is not JSON'}.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ProtocolError(`${what} that is not a JSON object.`);
  }
  return value as Record<string, unknown>;
}
