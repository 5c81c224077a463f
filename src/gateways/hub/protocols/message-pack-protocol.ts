// The SignalR MessagePack hub protocol, version 1: each message is an array with its length before it. The library is the one that the
// stock client uses.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/HubProtocol.md#messagepack-msgpack-encoding
import { Decoder, Encoder } from '@msgpack/msgpack';
import {
  ACK,
  CANCEL_INVOCATION,
  CLOSE,
  COMPLETION,
  type HubMessage,
  INVOCATION,
  PING,
  SEQUENCE,
  STREAM_INVOCATION,
  STREAM_ITEM,
} from './hub-messages.js';
import type { HubProtocol } from './hub-protocol.js';
import { messageOf } from './message-fields.js';
import { messagePackExcess } from './message-pack-scan.js';
import { ProtocolError } from './protocol-error.js';

/** The kinds of results of a completion. */
const ERROR = 1;
const VOID = 2;
const VALUE = 3;

/** A length has 7 bits per octet, the lowest first, and at most 31 bits. */
const LENGTH_OCTETS = 5;
const GOES_ON = 0x80;
const BITS = 0x7f;

/** Omits members without a value, as JSON does. */
const encoder = new Encoder({ ignoreUndefined: true });
const decoder = new Decoder();

export const MESSAGE_PACK_PROTOCOL: HubProtocol = {
  name: 'messagepack',
  index: 1,
  isBinary: true,
  ping: encoded({ type: PING }),
  encode: encoded,
  split,
  parse: (message) => messageOf(fieldsOf(elementsOf(message))),
};

function encoded(message: HubMessage): Uint8Array {
  const octets = encoder.encodeSharedRef(elements(message));
  const length: number[] = [];
  for (let rest = octets.length; ; rest >>>= 7) {
    length.push(rest > BITS ? (rest & BITS) | GOES_ON : rest);
    if (rest <= BITS) break;
  }
  const framed = new Uint8Array(length.length + octets.length);
  framed.set(length);
  framed.set(octets, length.length);
  return framed;
}

function elements(message: HubMessage): readonly unknown[] {
  switch (message.type) {
    case INVOCATION:
    case STREAM_INVOCATION: {
      const { type, headers = {}, invocationId = null, target, arguments: args, streamIds = [] } = message;
      return [type, headers, invocationId, target, args, streamIds];
    }
    case STREAM_ITEM:
      return [message.type, message.headers ?? {}, message.invocationId, message.item];
    case COMPLETION: {
      const { type, headers = {}, invocationId, result, error } = message;
      if (error !== undefined) return [type, headers, invocationId, ERROR, error];
      return result === undefined ? [type, headers, invocationId, VOID] : [type, headers, invocationId, VALUE, result];
    }
    case CANCEL_INVOCATION:
      return [message.type, message.headers ?? {}, message.invocationId];
    case PING:
      return [message.type];
    case CLOSE:
      return [message.type, message.error ?? null, message.allowReconnect ?? false];
    case ACK:
    case SEQUENCE:
      return [message.type, message.sequenceId];
  }
}

function split(frame: Uint8Array): readonly Uint8Array[] {
  const messages: Uint8Array[] = [];
  let at = 0;
  do {
    let length = 0;
    let octets = 0;
    let octet: number | undefined;
    do {
      octet = frame[at + octets];
      if (octet === undefined || octets === LENGTH_OCTETS) throw new ProtocolError('A frame whose length is cut off.');
      length += (octet & BITS) * 2 ** (7 * octets);
      octets++;
    } while (octet >= GOES_ON);
    at += octets;
    if (length > frame.length - at) throw new ProtocolError('A frame that ends inside a message.');
    messages.push(frame.subarray(at, at + length));
    at += length;
  } while (at < frame.length);
  return messages;
}

/** @throws ProtocolError when the octets are not an array within the limits */
function elementsOf(message: Uint8Array): readonly unknown[] {
  const excess = messagePackExcess(message);
  if (excess !== undefined) throw new ProtocolError(`A hub message that ${excess}.`);
  let value: unknown;
  try {
    value = decoder.decode(message);
  } catch {
    throw new ProtocolError('A hub message that cannot be decoded.');
  }
  if (!Array.isArray(value)) throw new ProtocolError('A hub message that is not an array.');
  return value;
}

/** Names the elements of a message. */
function fieldsOf(sent: readonly unknown[]): Readonly<Record<string, unknown>> {
  const [type, second, invocationId, fourth, fifth, streamIds] = sent;
  switch (type) {
    case INVOCATION:
    case STREAM_INVOCATION:
      return { type, headers: second, invocationId, target: fourth, arguments: fifth, streamIds };
    case STREAM_ITEM:
      return { type, headers: second, invocationId, item: fourth };
    case COMPLETION:
      return { type, headers: second, invocationId, ...outcome(fourth, fifth) };
    case CANCEL_INVOCATION:
      return { type, headers: second, invocationId };
    case CLOSE:
      return { type, error: second, allowReconnect: invocationId };
    case ACK:
    case SEQUENCE:
      return { type, sequenceId: second };
    default:
      return { type };
  }
}

function outcome(kind: unknown, value: unknown): Readonly<Record<string, unknown>> {
  if (kind === ERROR) return { error: value };
  if (kind === VALUE) return { result: value };
  if (kind === VOID) return {};
  throw new ProtocolError('A completion whose kind of result is not 1, 2 or 3.');
}
