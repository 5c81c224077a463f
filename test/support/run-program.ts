// Runs programs as a user would.
import { spawn } from 'node:child_process';

/** Runs a program to its end, with `settings` that override the environment; returns its output and exit code. */
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
  const code = await new Promise<number>((resolve) => child.once('close', resolve));
  return { code, output };
}
