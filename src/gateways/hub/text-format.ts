// Framing of the SignalR text transfer format: each message ends with the record separator 0x1E, and a WebSocket
// message holds one or more whole messages. Pure; the codec reads the messages.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/HubProtocol.md#json-encoding
import { ProtocolError } from './protocol-error.js';

/** JSON escapes control characters, so the separator never occurs inside a message. */
export const RECORD_SEPARATOR = '\u001e';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * The messages of one WebSocket message, at least one, without their separators.
 * @throws ProtocolError when it is too long, not UTF-8, or ends inside a message.
 */
export function splitFrame(data: Uint8Array, maxBytes: number): string[] {
  if (data.byteLength > maxBytes) {
    throw new ProtocolError(`A WebSocket message of ${data.byteLength} octets; at most ${maxBytes} are accepted.`);
  }
  let text: string;
  try {
    text = decoder.decode(data);
  } catch {
    throw new ProtocolError('A WebSocket message that is not UTF-8.');
  }
  if (!text.endsWith(RECORD_SEPARATOR)) {
    throw new ProtocolError('A WebSocket message that does not end with the record separator 0x1E.');
  }
  const messages = text.split(RECORD_SEPARATOR);
  messages.pop();
  return messages;
}
