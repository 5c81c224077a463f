// A PostgreSQL for several nodes: the embedded one of its own data directory, which also listens on TCP. It asks for no password, so it
// listens on loopback, and is for development and tests only.
import { pino } from 'pino';
import { type EmbeddedDatabase, startEmbedded } from '../../src/store/embedded/embedded.js';
import { freePort } from '../ports.js';
import { whenGone } from '../watchdog.js';

export interface PostgresServer {
  /** The value of DATABASE_URL. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Starts the server again on the same port and data. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Crashes the server; the next start replays what was committed. */
  kill(): Promise<void>;
}

export interface PostgresOptions {
  readonly dataDir: string;
  readonly port?: number;
  /** These settings override the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Enough for a few nodes, and for psql clients. */
const CONNECTIONS = '300';

/** Returns the URL of the database through a proxy on another port. */
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
      // The server is told to stop first, because it would start a killed server again.
      const stopped = killed.stop();
      process.kill(killed.pid, 'SIGKILL');
      await stopped;
      callOff();
    },
  };
}
