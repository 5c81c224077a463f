// A PostgreSQL for several nodes: the embedded one of a data directory of its own, listening on TCP as well. It asks for no
// password, so it listens on loopback, and is for development and tests only.
import { pino } from 'pino';
import { type EmbeddedDatabase, startEmbedded } from '../src/store/embedded.js';
import { freePort } from './ports.js';
import { whenGone } from './watchdog.js';

export interface PostgresServer {
  /** For DATABASE_URL. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** On the same port and data. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A crash; what was committed is replayed at the next start. */
  kill(): Promise<void>;
}

export interface PostgresOptions {
  readonly dataDir: string;
  readonly port?: number;
  /** Over the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Enough for a handful of nodes, and for clients of psql. */
const CONNECTIONS = '300';

/** URL of a database of this server's user that is reached on another port, through a proxy. */
export function urlOn(port: number): string {
  return `postgres://mansio@127.0.0.1:${port}/mansio`;
}

/** @throws LocalFault */
export async function startPostgresServer(options: PostgresOptions): Promise<PostgresServer> {
  const port = options.port ?? (await freePort());
  let running: EmbeddedDatabase | undefined;
  let callOff = () => {};
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    max_connections: CONNECTIONS,
    ...options.settings,
  };
  const start = async () => {
    if (running !== undefined) return;
    running = await startEmbedded({ dataDir: options.dataDir, log: pino({ level: 'silent' }), settings });
    callOff = whenGone('kill -INT "$1" 2>/dev/null', String(running.pid));
  };
  await start();
  return {
    url: urlOn(port),
    port,
    get pid() {
      return running?.pid ?? 0;
    },
    start,
    async stop() {
      const stopping = running;
      running = undefined;
      await stopping?.stop();
      callOff();
    },
    async kill() {
      const killed = running;
      running = undefined;
      if (killed === undefined) return;
      // Told to stop first: it would start a server that died again.
      const stopped = killed.stop();
      process.kill(killed.pid, 'SIGKILL');
      await stopped;
      callOff();
    },
  };
}
