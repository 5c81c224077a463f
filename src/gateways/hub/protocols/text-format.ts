// Framing of the SignalR text transfer format: each message ends with the record separator 0x1E, and a frame contains one or more whole
// messages. The handshake has this format in every protocol. Pure; the codec reads the messages.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/HubProtocol.md#json-encoding
import { ProtocolError } from './protocol-error.js';

/** JSON escapes control characters, and UTF-8 has this octet in no other character, so the separator never occurs inside a message. */
export const RECORD_SEPARATOR = '\u001e';
const SEPARATOR = 0x1e;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * The messages of a frame without their separators.
 * @throws ProtocolError when the frame ends inside a message
 */
export function splitText(frame: Uint8Array): readonly Uint8Array[] {
  const messages: Uint8Array[] = [];
  let rest = frame;
  do {
    const [message, after] = firstOf(rest);
    messages.push(message);
    rest = after;
  } while (rest.length > 0);
  return messages;
}

/**
 * The first message of a frame without its separator, and the rest of the frame.
 * @throws ProtocolError when the frame ends inside the message
 */
export function firstOf(frame: Uint8Array): readonly [message: Uint8Array, rest: Uint8Array] {
  const end = frame.indexOf(SEPARATOR);
  if (end < 0) throw new ProtocolError('A frame that does not end with the record separator 0x1E.');
  return [frame.subarray(0, end), frame.subarray(end + 1)];
}

/** @throws ProtocolError */
export function textOf(message: Uint8Array): string {
  try {
    return decoder.decode(message);
  } catch {
    throw new ProtocolError('A message that is not UTF-8.');
  }
}
