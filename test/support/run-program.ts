// Runs programs as a user would.
import { spawn } from 'node:child_process';
import { patiently } from './patience.js';

/** In ms: a program of a test may itself do much. */
const PATIENCE_MS = 480_000;

/**
 * Runs a program to its end, with `settings` that override the environment; returns its output and exit code. @throws when it does not end in
 * eight minutes
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  input = '',
  settings: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string }> {
  const env = { ...process.env, ...settings };
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const closed = new Promise<number>((resolve) => child.once('close', resolve));
  try {
    return {
      code: await patiently(
        closed,
        () => `the end of ${command} ${args.join(' ')}, which said:\n${output}`,
        PATIENCE_MS,
      ),
      output,
    };
  } finally {
    child.kill('SIGKILL');
  }
}
