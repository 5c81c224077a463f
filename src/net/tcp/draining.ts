// Closes a connection so that the peer still reads the last words.
import type { Duplex } from 'node:stream';

const LINGER_MS = 1000;
/** The time for earlier writes to leave: a slow peer has no room for them yet. */
const DELIVERY_MS = 60_000;

/** Sends the waiting data and the last words, and closes; a peer that does not close its side is cut off a second later. */
export function drainAndClose(socket: Duplex, words: string | Buffer | undefined): void {
  socket.on('error', () => socket.destroy());
  const cutOffIn = (ms: number) => setTimeout(() => socket.destroy(), ms).unref();
  let linger = cutOffIn(DELIVERY_MS);
  socket.once('finish', () => {
    clearTimeout(linger);
    linger = cutOffIn(LINGER_MS);
  });
  socket.once('close', () => clearTimeout(linger));
  if (words === undefined) socket.end();
  else socket.end(words);
  // Unread octets would turn the close into a reset, which may overtake the words.
  socket.removeAllListeners('readable');
  socket.resume();
}
