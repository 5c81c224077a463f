// Real NATS servers as processes, alone or as one cluster, configured by the same `nats.conf` that operators use. Each keeps its ports over
// stops, kills and starts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireProgram } from '../executables.js';
import { freePorts } from '../ports.js';
import { type Program, startProgram, whenReady } from '../program.js';
import { temporaryDirectoryOnDisk } from '../temporary-directory.js';

export interface NatsServer {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  /** 0 while it does not run. */
  readonly pid: number;
  /** The port where other servers join it. */
  readonly routePort: number;
  readonly running: boolean;
  readonly logs: readonly string[];
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Kills the server if it runs, and starts it. */
  restart(): Promise<void>;
  /** Hangs the server: sockets stay open and nothing answers. */
  pause(): void;
  resume(): void;
}

export interface NatsPorts {
  readonly client: number;
  readonly route: number;
}

const CONFIG = join(fileURLToPath(new URL('../../..', import.meta.url)), 'nats.conf');

/** Starts a server that is alone. `config` holds lines that override those of `nats.conf`. @throws MissingProgram */
export async function startNatsServer(config = ''): Promise<NatsServer> {
  return (await startNatsCluster({ size: 1, config }))[0]!;
}

/** @throws MissingProgram */
export async function startNatsCluster(
  of: ({ readonly size: number } | { readonly ports: readonly NatsPorts[] }) & { readonly config?: string },
): Promise<NatsServer[]> {
  const ports = 'ports' in of ? of.ports : await portsFor(of.size);
  const file = configFile(of.config ?? '');
  const servers = ports.map((own, i) => natsServer(`nats-${i + 1}`, file, own, ports));
  try {
    await Promise.all(servers.map((server) => server.start()));
    return servers;
  } catch (error) {
    await Promise.all(servers.map((server) => server.kill()));
    throw error;
  }
}

/** Returns the value of NATS_URL. */
export function urlsOf(servers: readonly { readonly url: string }[]): string {
  return servers.map(({ url }) => url).join(',');
}

async function portsFor(size: number): Promise<NatsPorts[]> {
  const ports = await freePorts(size * 2);
  return Array.from({ length: size }, (_, i) => ({ client: ports[2 * i]!, route: ports[2 * i + 1]! }));
}

function configFile(further: string): string {
  if (further === '') return CONFIG;
  const file = join(temporaryDirectoryOnDisk('mansio-nats-'), 'nats.conf');
  writeFileSync(file, `${readFileSync(CONFIG, 'utf8')}\n${further}\n`);
  return file;
}

function natsServer(name: string, config: string, ports: NatsPorts, all: readonly NatsPorts[]): NatsServer {
  const command = requireProgram('nats-server');
  const others = all.filter((each) => each !== ports);
  const routes = others.map(({ route }) => `"nats://127.0.0.1:${route}"`);
  const args = [
    '-c',
    config,
    '-a',
    '127.0.0.1',
    '-p',
    `${ports.client}`,
    '--cluster',
    `nats://127.0.0.1:${ports.route}`,
  ];
  const env = { NATS_NAME: name, NATS_ROUTES: `[${routes.join(', ')}]` };
  let program: Program | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (program?.running === true) await program.kill(signal);
  };
  const start = async () => {
    if (program?.running === true) return;
    let ready = () => {};
    const listening = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const onLine = (line: string) => {
      if (line.includes('Server is ready')) ready();
    };
    program = startProgram({ command, args, env, onLine });
    await whenReady(name, program, listening);
  };
  return {
    name,
    url: `nats://127.0.0.1:${ports.client}`,
    port: ports.client,
    get pid() {
      return program?.running === true ? program.pid : 0;
    },
    routePort: ports.route,
    get running() {
      return program?.running ?? false;
    },
    get logs() {
      return program?.logs ?? [];
    },
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGKILL');
      await start();
    },
    pause: () => program?.signal('SIGSTOP'),
    resume: () => program?.signal('SIGCONT'),
  };
}
