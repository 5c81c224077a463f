// An IMAP client for load: it does as little work per response as possible, so that the server is measured. A command is over when the last
// octets are its tagged line; all octets before it are counted, and kept on request.
import { connect as connectPlain, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

export interface ImapAddress {
  readonly port: number;
  readonly isTls?: boolean;
  /** The address of the client. */
  readonly localAddress?: string;
}

export interface Response {
  /** The status without the tag. */
  readonly status: string;
  /** The number of untagged octets. */
  readonly octets: number;
  /** The untagged responses as a binary string; '' unless they were requested. */
  readonly text: string;
}

const LF = 10;
/** A tagged line has fewer octets. */
const TAIL_OCTETS = 4096;
const RECEIVE_OCTETS = 256 * 1024;

interface Waiting {
  readonly tag: string;
  readonly keeps: boolean;
  resolve(response: Response): void;
  reject(error: Error): void;
}

export class ImapClient {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #count = 0;
  #octets = 0;
  #tail: Buffer = Buffer.alloc(0);
  #pieces: Buffer[] = [];
  /** Called with what arrives while no command runs, or while IDLE runs. */
  #heard: ((octets: Buffer) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const broken = (error: Error) => {
      this.#waiting?.reject(error);
      this.#waiting = undefined;
    };
    socket.on('error', broken);
    socket.on('close', () => broken(new Error('the connection was closed')));
  }

  /** Resolves after the greeting. */
  static async open({ port, isTls = false, localAddress }: ImapAddress): Promise<ImapClient> {
    let client: ImapClient | undefined;
    const early: Buffer[] = [];
    const buffer = Buffer.allocUnsafe(RECEIVE_OCTETS);
    const receive = (octets: Buffer) => {
      if (client === undefined) early.push(Buffer.from(octets));
      else client.#receive(octets);
    };
    const socket = isTls
      ? connectTls({ host: '127.0.0.1', port, localAddress, rejectUnauthorized: false } as ConnectionOptions)
      : connectPlain({
          host: '127.0.0.1',
          port,
          ...(localAddress !== undefined && { localAddress }),
          noDelay: true,
          onread: {
            buffer,
            callback: (length: number) => {
              receive(buffer.subarray(0, length));
              return true;
            },
          },
        });
    if (isTls) socket.on('data', receive);
    client = new ImapClient(socket);
    const greeting = new Promise<void>((resolve) => {
      client.#heard = () => resolve();
    });
    for (const octets of early) client.#receive(octets);
    await greeting;
    client.#heard = undefined;
    return client;
  }

  /** @throws Error unless the command ends with OK */
  async ok(command: string | readonly (string | Buffer)[], keeps = false): Promise<Response> {
    return accepted(command, await this.run(command, keeps));
  }

  /**
   * Sends the same command `times` times at once: this shows what the server takes for each, without a round trip. @throws Error unless the
   * last ends with OK
   */
  async pipelined(command: string, times: number): Promise<Response> {
    const earlier = Array.from({ length: times - 1 }, (_, i) => `p${i} ${command}\r\n`);
    return accepted(command, await this.#send(earlier.join(''), [command], false));
  }

  /** `command` has no tag and no line end; pieces are written unchanged. */
  run(command: string | readonly (string | Buffer)[], keeps = false): Promise<Response> {
    return this.#send('', typeof command === 'string' ? [command] : command, keeps);
  }

  /** `earlier` holds whole commands, whose responses are ignored. */
  #send(earlier: string, pieces: readonly (string | Buffer)[], keeps: boolean): Promise<Response> {
    const tag = `t${++this.#count}x`;
    return new Promise((resolve, reject) => {
      this.#octets = 0;
      this.#pieces = [];
      this.#waiting = { tag, keeps, resolve, reject };
      this.#socket.write(
        Buffer.concat([earlier, `${tag} `, ...pieces, '\r\n'].map((piece) => Buffer.from(piece as string))),
      );
    });
  }

  /** Idles until the returned function is called; `heard` gets what the server sends. */
  async idle(heard: (octets: Buffer) => void): Promise<() => Promise<void>> {
    let invited = () => {};
    const begun = new Promise<void>((resolve) => {
      invited = resolve;
    });
    this.#heard = (octets) => {
      if (octets.includes('+ ')) invited();
      heard(octets);
    };
    const ended = this.ok('IDLE');
    // Code that closes the connection does not wait for the end.
    ended.catch(() => {});
    await begun;
    return async () => {
      this.#socket.write('DONE\r\n');
      await ended;
      this.#heard = undefined;
    };
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(octets: Buffer): void {
    this.#heard?.(octets);
    if (this.#waiting === undefined) return;
    const { tag, keeps, resolve } = this.#waiting;
    this.#octets += octets.length;
    if (keeps) this.#pieces.push(Buffer.from(octets));
    const tail = octets.length >= TAIL_OCTETS ? octets : Buffer.concat([this.#tail, octets]).subarray(-TAIL_OCTETS);
    if (tail.at(-1) === LF) {
      const start = tail.lastIndexOf(LF, -2) + 1;
      if (tail.length - start > tag.length && tail.toString('latin1', start, start + tag.length + 1) === `${tag} `) {
        const status = tail.toString('latin1', start + tag.length + 1, tail.length - 2);
        const untagged = this.#octets - (tail.length - start);
        const text = keeps ? Buffer.concat(this.#pieces).toString('latin1', 0, untagged) : '';
        this.#waiting = undefined;
        this.#tail = Buffer.alloc(0);
        resolve({ status, octets: untagged, text });
        return;
      }
    }
    this.#tail = Buffer.from(tail.subarray(-TAIL_OCTETS));
  }
}

function accepted(command: string | readonly (string | Buffer)[], response: Response): Response {
  if (response.status.startsWith('OK')) return response;
  throw new Error(`${String(command).slice(0, 100)}: ${response.status}`);
}
