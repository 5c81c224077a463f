// How a connection is closed so that the peer still reads the last words.
import type { Duplex } from 'node:stream';

const LINGER_MS = 1000;

/** Sends the last words and closes; a peer that does not close its side is cut off after a second. */
export function closeAfter(socket: Duplex, words: string | Buffer | undefined): void {
  socket.on('error', () => socket.destroy());
  const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(linger));
  if (words === undefined) socket.end();
  else socket.end(words);
  // Unread octets would turn the close into a reset, which may overtake the words.
  socket.removeAllListeners('readable');
  socket.resume();
}
