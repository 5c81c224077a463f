// Gives tests of listenTcp a small protocol of lines (`echo`, `take n` and n octets, `stls`, `user`, `flood`, `quit`), a listener that
// speaks it, and a client.
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { certificates } from '../../../dev/certificate.js';
import type { LineConnection } from '../../../src/net/tcp/line-connection.js';
import {
  listenTcp,
  type SessionStart,
  type TcpListener,
  type TcpListenerOptions,
} from '../../../src/net/tcp/tcp-listener.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';

async function session(connection: LineConnection): Promise<void> {
  connection.write(`+ hello ${connection.peer.address}\r\n`);
  for (;;) {
    const line = (await connection.readLine())?.toString();
    if (line === undefined) return;
    const [verb, argument = ''] = line.split(' ');
    if (verb === 'stls') await connection.startTls('+ begin\r\n');
    else if (verb === 'tls') connection.write(`+ ${connection.tls?.protocol ?? 'none'}\r\n`);
    else if (verb === 'user') connection.write(connection.logIn(argument) ? '+ in\r\n' : '- too many\r\n');
    else if (verb === 'take') {
      let octets = '';
      for await (const piece of connection.readOctets(Number(argument))) octets += piece.toString('latin1');
      connection.write(`+ ${JSON.stringify(octets)}\r\n`);
    } else if (verb === 'flood') {
      for (let i = 0; i < Number(argument); i++) await connection.write(Buffer.alloc(65_536, 120));
      connection.write('\r\n');
    } else if (verb === 'burst') for (let i = 0; i < Number(argument); i++) connection.write(Buffer.alloc(65_536, 120));
    else if (verb === 'block') for (const octet of [120, 121]) connection.write(Buffer.alloc(Number(argument), octet));
    else if (verb === 'break') throw new Error('a bug');
    else if (verb === 'quit') return;
    else connection.write(`+ ${line}\r\n`);
  }
}

const startSession: SessionStart = (connection) => ({
  run: async () => {
    await session(connection);
    return 'over';
  },
  close() {},
});

interface Opened {
  readonly listener: TcpListener;
  readonly logged: Record<string, unknown>[];
}

export async function open(
  t: ExecutionContext,
  overrides: Partial<TcpListenerOptions> = {},
  start: SessionStart = startSession,
): Promise<Opened> {
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => logged.push(JSON.parse(line)) });
  const listener = await listenTcp(
    {
      bind: '127.0.0.1',
      port: 0,
      tls: certificates,
      implicitTls: false,
      trusted: new TrustedNetworks([]),
      limits: { connections: 100, connectionsPerAddress: 100, connectionsPerAccount: 100 },
      times: {
        idleMs: 60_000,
        loginMs: 60_000,
        stressLoginMs: 60_000,
        handshakeMs: 60_000,
        minRate: 100,
        minRateGraceMs: 60_000,
      },
      proxyHeaderMs: 60_000,
      lines: { maxLine: 100, bareLf: 'refused' },
      farewells: {
        idle: '- idle\r\n',
        'no-login': '- no login\r\n',
        'too-slow': '- too slow\r\n',
        stopping: '- stopping\r\n',
        'login-ended': '- login ended\r\n',
        'line-too-long': '- line too long\r\n',
        'bare-line-feed': '- bare line feed\r\n',
        full: '- full\r\n',
        'address-full': '- address full\r\n',
        bug: '- bug\r\n',
      },
      log,
      ...overrides,
    },
    start,
  );
  t.teardown(() => listener.stop(0));
  return { listener, logged };
}

export class Client {
  #text = '';
  #isOver = false;
  #changed: (() => void) | undefined;
  socket: net.Socket;

  constructor(socket: net.Socket) {
    this.socket = socket;
    this.#listen(socket);
  }

  static async connect({ listener }: Opened, opening: string | Buffer = ''): Promise<Client> {
    const socket = net.connect(Number(listener.address.split(':')[1]), '127.0.0.1');
    await once(socket, 'connect');
    if (opening.length > 0) socket.write(opening);
    return new Client(socket);
  }

  write(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** Returns the next line; undefined at the end. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const at = this.#text.indexOf('\r\n');
      if (at >= 0) {
        const line = this.#text.slice(0, at);
        this.#text = this.#text.slice(at + 2);
        return line;
      }
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  async secure(): Promise<void> {
    this.socket.removeAllListeners('data');
    this.socket = tls.connect({ socket: this.socket, rejectUnauthorized: false });
    const secured = this.socket;
    await new Promise((resolve, reject) => {
      secured.once('secureConnect', resolve);
      secured.once('error', reject);
      secured.once('close', reject);
    });
    this.#listen(this.socket);
  }

  #listen(socket: net.Socket): void {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      this.#text += chunk.toString('latin1');
      this.#changed?.();
    });
    socket.on('close', () => {
      this.#isOver = true;
      this.#changed?.();
    });
  }
}
