// A violation of the protocol by a hub client: codecs throw it, a close message tells it to the client, and it is never a fault of this
// server.

export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
