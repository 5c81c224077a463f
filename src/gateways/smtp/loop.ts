// When a message has been under way so often that it must be going round (CONTRACT §5, RFC 5321 §6.3).
import type { MessageIndex } from '../../mail/message-index.js';

/** `Received` fields a message may come with. */
const MAX_RECEIVED = 50;

/** Of a message with our own `Received` on top. */
export function hasCircled({ receivedCount }: MessageIndex): boolean {
  return receivedCount > MAX_RECEIVED + 1;
}
