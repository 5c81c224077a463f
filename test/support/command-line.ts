// Runs commands in the process of the test, on the store that its environment names: this is faster than a separate process (command.ts).
import { Command, CommanderError } from 'commander';
import { assemble } from '../../src/cli/program.js';

export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function mansio(...args: string[]): Promise<Run> {
  let [out, err] = ['', ''];
  const program = await assemble(
    new Command('mansio').exitOverride().configureOutput({
      writeOut: (text) => {
        out += text;
      },
      writeErr: (text) => {
        err += text;
      },
    }),
    args,
  );
  try {
    await program.parseAsync(args, { from: 'user' });
    return { code: 0, out, err };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { code: error.exitCode, out, err };
  }
}

/** Returns what a successful command prints with --json. */
// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes, looked at by the tests
export async function mansioJson(...args: string[]): Promise<any> {
  const { code, out, err } = await mansio(...args, '--json');
  if (code !== 0 || err !== '') throw new Error(`${args.join(' ')}: ${code} ${err}`);
  if (!/^[^\n]+\n$/.test(out)) throw new Error(`not one line: ${out}`);
  return JSON.parse(out);
}
