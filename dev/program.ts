// A server as its own process: its output, its readiness, signals, its end. It has its own process group, so that Ctrl-C reaches only its
// parent; it never outlives its parent, however the parent ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { whenGone } from './watchdog.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Program {
  readonly pid: number;
  readonly running: boolean;
  /** Every line of stdout and stderr so far; the list grows. */
  readonly logs: readonly string[];
  /** Sends SIGSTOP or SIGCONT; `kill` sends the signals that end it. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process has ended. */
  kill(signal: NodeJS.Signals): Promise<Exit>;
  /** Resolves after its last line was read. */
  readonly exited: Promise<Exit>;
}

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

/** Thrown when a program ended before it was ready. */
export class NotReady extends Error {
  readonly exit: Exit;
  readonly logs: readonly string[];

  constructor(what: string, exit: Exit, logs: readonly string[]) {
    super(`${what} ended (${exit.code ?? exit.signal}) before it was ready:\n${logs.join('\n')}`);
    this.exit = exit;
    this.logs = logs;
  }
}

export function startProgram({ command, args, env, onLine }: ProgramOptions): Program {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const callOff = whenGone('kill -9 "$1" 2>/dev/null', String(child.pid));
  const logs: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      logs.push(line);
      onLine?.(line);
    });
  }
  let running = true;
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    running = false;
    callOff();
    return { code, signal };
  });
  return {
    pid: child.pid!,
    get running() {
      return running;
    },
    logs,
    signal: (signal) => void child.kill(signal),
    kill(signal) {
      child.kill(signal);
      // A stopped process reacts only to SIGKILL.
      if (signal !== 'SIGKILL') child.kill('SIGCONT');
      return exited;
    },
    exited,
  };
}

/** Resolves with the value of `ready`, unless the program ends first. @throws NotReady */
export async function whenReady<T>(what: string, program: Program, ready: Promise<T>): Promise<T> {
  const failed = program.exited.then((exit): never => {
    throw new NotReady(what, exit, program.logs);
  });
  failed.catch(() => {});
  return Promise.race([ready, failed]);
}
