// One HTTP request, on a connection of its own, that is never answered: the server keeps it open as an anchor for other work.
import { connect } from 'node:net';

/** The address of a server: a port, or the Unix socket that belongs to it alone while other processes share its port. */
export type ServerEndpoint = { readonly host: string; readonly port: number } | { readonly path: string };

/** Resolves when the connection is over. @throws the system's error when the connection failed or broke */
export function openAnchor(place: ServerEndpoint, target: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(place);
    const end = () => socket.destroy();
    signal.addEventListener('abort', end);
    socket.on('error', reject);
    socket.on('close', () => {
      signal.removeEventListener('abort', end);
      resolve();
    });
    // Any data is an answer, and so comes from a server that does not keep the request.
    socket.on('data', end);
    if (signal.aborted) end();
    else socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  });
}
