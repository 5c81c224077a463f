// Child process of the benchmark `rest`: a bare uWebSockets server, which answers every request with the same octets. It shows how much of
// a reply the library and the kernel take. Its argument is the number of octets.
import { loadServerLibrary, type ServerLibrary } from '../../../src/gateways/http/server/server-library.js';

/** Reports that the server listens. */
export interface BareListening {
  readonly port: number;
}

const body = Buffer.alloc(Number(process.argv[2]), 'x');
const uws: ServerLibrary = await loadServerLibrary();
uws
  .App()
  .get('/*', (response) => void response.end(body))
  .listen('127.0.0.1', 0, (listening) => {
    const told: BareListening = { port: uws.us_socket_local_port(listening as never) };
    process.send?.(told);
  });
process.on('disconnect', () => process.exit(0));
