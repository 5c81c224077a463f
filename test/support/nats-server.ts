// A NATS server for tests: the program nats-server as a process of its own, on a free port that it keeps when it is
// started again. Nothing of it is left behind, however the test ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryDirectory } from './temporary-directory.js';
import { whenGone } from './watchdog.js';

export interface NatsServer {
  /** nats://127.0.0.1:<port>, without credentials. */
  readonly url: string;
  /** Where other servers join it, when its configuration has a cluster. */
  readonly routePort: number;
  /** Kills it: its clients find their sockets closed. */
  stop(): Promise<void>;
  /** Starts it, on the same port; stops it before if it runs. */
  restart(): Promise<void>;
  /** It hangs: sockets stay open and nothing answers. */
  pause(): void;
  resume(): void;
}

/** `config`: lines of a server's configuration beyond the port. */
export async function startNatsServer(config = ''): Promise<NatsServer> {
  const program = findProgram();
  const file = join(temporaryDirectory('mansio-test-nats-'), 'server.conf');
  let running = await run(program, file, config, -1);
  const { port, routePort } = running;
  async function stop(): Promise<void> {
    if (running.child.exitCode !== null || running.child.signalCode !== null) return;
    running.child.kill('SIGKILL');
    await once(running.child, 'close');
    running.callOff();
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    routePort,
    stop,
    async restart() {
      await stop();
      running = await run(program, file, config, port);
    },
    pause: () => void running.child.kill('SIGSTOP'),
    resume: () => void running.child.kill('SIGCONT'),
  };
}

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly routePort: number;
  readonly callOff: () => void;
}

async function run(program: string, file: string, config: string, port: number): Promise<Running> {
  writeFileSync(file, `listen: "127.0.0.1:${port}"\n${config}\n`);
  const child = spawn(program, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const callOff = whenGone('kill -9 "$1" 2>/dev/null', String(child.pid));
  const logs: string[] = [];
  const ports = { client: 0, route: 0 };
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      logs.push(line);
      const at = /Listening for (client|route) connections on \S+:(\d+)/.exec(line);
      if (at !== null) ports[at[1] as 'client' | 'route'] = Number(at[2]);
      // Routes are opened after the server says that it is ready.
      if (ports.client > 0 && (ports.route > 0 || !config.includes('cluster'))) resolve();
    });
  });
  const ended = once(child, 'close').then(([code, signal]): never => {
    throw new Error(`nats-server ended (${code ?? signal}) before it was ready:\n${logs.join('\n')}`);
  });
  await Promise.race([ready, ended]);
  ended.catch(() => {});
  return { child, port: ports.client, routePort: ports.route, callOff };
}

function findProgram(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin', '/usr/local/sbin'];
  const found = folders.map((folder) => join(folder, 'nats-server')).find((path) => existsSync(path));
  if (found === undefined) {
    throw new Error('these tests need the program nats-server (https://nats.io/download), which is not on PATH');
  }
  return found;
}
