// A node as a process: `bin/mansio serve` with the given settings and none of this process's own.
import { fileURLToPath } from 'node:url';
import { type Exit, NotReady, type Program, startProgram, whenReady } from './program.js';

export interface ReadyLine {
  readonly event: 'ready';
  readonly nodeId: string;
  readonly listeners: Readonly<Record<string, string>>;
}

export interface NodeProcess extends Program {
  readonly ready: ReadyLine;
  readonly dataDir: string;
  /** The environment of the node. */
  readonly env: Readonly<Record<string, string>>;
  /** Drains and stops it (SIGTERM). */
  stop(): Promise<Exit>;
}

export { type Exit, NotReady as NodeNotReady };

export const PROGRAM = fileURLToPath(new URL('../../bin/mansio', import.meta.url));

/** `BENCH_NODE_OPTIONS=--cpu-prof` profiles nodes of benchmarks. */
const profiling = process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? [];

/** Settings of nodes to which tests and benchmarks send more requests than people do. */
export const UNLIMITED = {
  MANSIO_RATE_GLOBAL: '0',
  MANSIO_RATE_AUTH: '0',
  MANSIO_RATE_WRITE: '0',
  MANSIO_RATE_SESSION: '0',
  // The limits are counted, and never reached.
  MANSIO_SEND_LIMIT_HOUR: '1000000000',
  MANSIO_SEND_LIMIT_DAY: '1000000000',
  MANSIO_SUSPEND_STRANGERS: '1000000000',
  MANSIO_SUSPEND_REFUSED: '1000000000',
} as const;

/** Returns the environment of this process without Mansio's settings. */
export function bareEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !/^(MANSIO_|DATABASE_URL$|NATS_URL$)/.test(name));
  return Object.fromEntries(entries) as Record<string, string>;
}

/** `spawned` is called with the process before it is ready; `program` is another bin/mansio than this one's. @throws NodeNotReady */
export async function startNodeProcess(
  settings: Readonly<Record<string, string>> & { readonly MANSIO_DATA_DIR: string },
  spawned?: (program: Program) => void,
  program = PROGRAM,
): Promise<NodeProcess> {
  const env = { ...bareEnvironment(), ...settings };
  let resolve = (_: ReadyLine) => {};
  const said = new Promise<ReadyLine>((resolved) => {
    resolve = resolved;
  });
  const started = startProgram({
    command: process.execPath,
    args: [...profiling, '--', program, 'serve'],
    env,
    onLine: (line) => {
      if (line.startsWith('{"event":"ready"')) resolve(JSON.parse(line));
    },
  });
  spawned?.(started);
  const ready = await whenReady('the node', started, said);
  return {
    ...started,
    get running() {
      return started.running;
    },
    ready,
    dataDir: settings.MANSIO_DATA_DIR,
    env,
    stop: () => started.kill('SIGTERM'),
  };
}
