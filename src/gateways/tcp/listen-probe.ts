// Why an address cannot be listened on. uWebSockets.js only says that it cannot; Node's own server, tried on the same
// address, gets the reason from the kernel.
import { createServer } from 'node:net';

/** The system's error (EADDRINUSE, EACCES, …); undefined when listening works by now. */
export function listenProbe(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
