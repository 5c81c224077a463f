// Child process of the benchmark `realtime`: a bare uWebSockets server, which answers the handshake of the hub and sends the same octets to
// all its sockets on request. It shows how much of a fan-out the library and the kernel take.
import { loadServerLibrary, type ServerLibrary } from '../../src/gateways/http/server/server-library.js';

/** Orders the server to send the text to every socket. */
export interface SendOrder {
  readonly text: string;
}

/** Reports that the server listens. */
export interface Listening {
  readonly port: number;
}

const HANDSHAKE_ACCEPTED = '{}\u001e';

const uws: ServerLibrary = await loadServerLibrary();
const sockets = new Set<{ send(octets: Uint8Array, isBinary: boolean, compress: boolean): unknown }>();
uws
  .App()
  .ws<{ isOpen: boolean }>('/*', {
    compression: uws.DISABLED,
    idleTimeout: 0,
    sendPingsAutomatically: false,
    upgrade(response, request, context) {
      const header = (name: string) => request.getHeader(`sec-websocket-${name}`);
      response.upgrade({ isOpen: false }, header('key'), header('protocol'), '', context);
    },
    message(socket) {
      const data = socket.getUserData();
      if (data.isOpen) return;
      data.isOpen = true;
      socket.send(HANDSHAKE_ACCEPTED, false, false);
      sockets.add(socket);
    },
    close: (socket) => void sockets.delete(socket),
  })
  .listen('127.0.0.1', 0, (listening) => {
    const told: Listening = { port: uws.us_socket_local_port(listening as never) };
    process.send?.(told);
  });

process.on('message', ({ text }: SendOrder) => {
  const octets = Buffer.from(text);
  for (const socket of sockets) socket.send(octets, false, false);
});
process.on('disconnect', () => process.exit(0));
