// Finds out whether a server can listen on an address, and why not. uWebSockets.js only reports that it cannot; Node's own server, tried on
// the same address, gets the reason from the kernel.
import { createServer } from 'node:net';

/** Returns an unused port: the given one, or a free one for 0. @throws the system's error (EADDRINUSE, EACCES, …) */
export function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

/** Returns the system's error; undefined when listening works now. */
export function listenProbe(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return freePort(host, port).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
}
