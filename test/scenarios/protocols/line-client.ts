// Implements a client of any protocol of lines, which waits for lines instead of times.
import net from 'node:net';
import { Closed, endOfLine, OctetClient } from '../../support/clients/octet-client.js';

export class LineClient extends OctetClient {
  static async connect(port: number): Promise<LineClient> {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new LineClient(socket);
  }

  /** Returns the next line without its end; undefined when the peer has closed. */
  async line(): Promise<string | undefined> {
    try {
      return await this.take(endOfLine, 2);
    } catch (error) {
      if (error instanceof Closed) return undefined;
      throw error;
    }
  }

  /** Returns all lines up to the end of the connection. */
  rest(): Promise<string[]> {
    return this.untilClosed(() => this.take(endOfLine, 2));
  }
}
