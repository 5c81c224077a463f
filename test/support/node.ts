// A whole node for tests: `bin/mansio serve` as a process of its own, on free ports and a temporary data directory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from './temporary-directory.js';
import { whenGone } from './watchdog.js';

export interface ReadyLine {
  readonly event: 'ready';
  readonly nodeId: string;
  readonly listeners: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface TestNode {
  readonly ready: ReadyLine;
  readonly pid: number;
  readonly dataDir: string;
  /** As the node got it. */
  readonly env: Readonly<Record<string, string>>;
  /** Every line of stdout and stderr so far, grows. */
  readonly logs: readonly string[];
  /** Drains and stops it (SIGTERM). */
  stop(): Promise<Exit>;
  kill(signal: NodeJS.Signals): Promise<Exit>;
  readonly exited: Promise<Exit>;
}

/** A node that ended before it was ready. */
export class NodeNotReady extends Error {
  readonly exit: Exit;
  readonly logs: readonly string[];

  constructor(exit: Exit, logs: readonly string[]) {
    super(`the node ended (${exit.code ?? exit.signal}) before it was ready:\n${logs.join('\n')}`);
    this.exit = exit;
    this.logs = logs;
  }
}

export const PROGRAM = fileURLToPath(new URL('../../../bin/mansio', import.meta.url));

/** The environment of this process without settings of Mansio's. */
export function bareEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !/^(MANSIO_|DATABASE_URL$|NATS_URL$)/.test(name));
  return Object.fromEntries(entries) as Record<string, string>;
}

/** `settings` over free ports and a new data directory. @throws NodeNotReady */
export async function startTestNode(settings: Readonly<Record<string, string>> = {}): Promise<TestNode> {
  const dataDir = settings['MANSIO_DATA_DIR'] ?? temporaryDirectory('mansio-test-node-');
  const ports = { MANSIO_HTTP_PORT: '0', MANSIO_MX_PORT: '0' };
  const env = { ...bareEnvironment(), ...ports, MANSIO_DATA_DIR: dataDir, ...settings };
  const child = spawn(process.execPath, [PROGRAM, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const callOff = whenGone('kill -9 "$1" 2>/dev/null', String(child.pid));
  // 'close' comes after the last line was read.
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    callOff();
    return { code, signal };
  });
  const logs: string[] = [];
  const ready = new Promise<ReadyLine>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        logs.push(line);
        if (line.startsWith('{"event":"ready"')) resolve(JSON.parse(line));
      });
    }
  });
  const failed = exited.then((exit): never => {
    throw new NodeNotReady(exit, logs);
  });
  const line = await Promise.race([ready, failed]);
  failed.catch(() => {});
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return { ready: line, pid: child.pid!, dataDir, env, logs, stop: () => kill('SIGTERM'), kill, exited };
}
