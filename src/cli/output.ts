// The output of commands: a record or a list on stdout, as text for people or with --json as one JSON value; a failure as one line on
// stderr with exit code 1. Commands return values and throw; only this file writes.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';

type Value = string | number | boolean | null | Date | readonly string[];
export type OutputFields = Readonly<Record<string, Value>>;

/** The operator asks for something impossible; the message tells what to do instead. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/**
 * Asks a person at a terminal before data is lost permanently; a script passes `--yes` instead.
 * @throws CommandError when the answer is not yes, or nobody can be asked.
 */
export async function confirm(yes: boolean | undefined, consequence: string): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new CommandError(`${consequence}: add --yes to confirm`);
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${consequence}. Go on? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was changed');
  } finally {
    prompt.close();
  }
}

/**
 * Asks a person at a terminal for a password, which is not shown.
 * @throws CommandError when nobody can be asked; `otherwise` tells what a script has to do.
 */
export async function askSecret(question: string, otherwise: string): Promise<string> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new CommandError(`a password is needed: ${otherwise}`);
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await prompt.question('');
  } finally {
    prompt.close();
    process.stderr.write('\n');
  }
}

/** A group of subcommands. */
export function commandGroup(program: Command, name: string, description: string): Command {
  return program.command(name).description(description);
}

/** A command that prints what `work` returns. */
export function printing<A extends unknown[]>(
  command: Command,
  work: (...args: A) => Promise<OutputFields | readonly OutputFields[]>,
): Command {
  return reporting(command, work, textOf);
}

/**
 * A command that prints the result of `work` in words of its own, or with --json unchanged. `failure`: why the command ends with exit code
 * 1 after it has printed the result.
 */
export function reporting<A extends unknown[], R>(
  command: Command,
  work: (...args: A) => Promise<R>,
  inWords: (result: R) => string,
  failure?: (result: R) => string | undefined,
): Command {
  return command.option('--json', 'print one JSON value').action(async (...args: unknown[]) => {
    try {
      const result = await work(...(args as A));
      const text = command.opts<{ json?: boolean }>().json === true ? JSON.stringify(result) : inWords(result);
      command.configureOutput().writeOut?.(`${text}\n`);
      const why = failure?.(result);
      if (why !== undefined) throw new CommandError(why);
    } catch (error) {
      if (error instanceof CommanderError) throw error;
      command.error(`error: ${oneLine(error)}`);
    }
  });
}

function oneLine(error: unknown): string {
  // A failed connection to a name with several addresses is an AggregateError, whose own message is empty.
  const cause = error instanceof Error && error.cause instanceof AggregateError ? error.cause.errors[0] : undefined;
  const message =
    error instanceof Error ? `${error.message}${cause instanceof Error ? cause.message : ''}` : `${error}`;
  return inert(message.replace(/\s*\n\s*/g, '; ')) || 'failed';
}

/** Formats a record as lines of name and value, and a list as a table. */
export function textOf(result: OutputFields | readonly OutputFields[]): string {
  if (!Array.isArray(result)) {
    const entries = Object.entries(result as OutputFields);
    const width = Math.max(...entries.map(([name]) => name.length));
    return entries.map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`).join('\n');
  }
  const rows = result as readonly OutputFields[];
  if (rows.length === 0) return '(none)';
  const columns = Object.keys(rows[0]!);
  const cells = [columns, ...rows.map((row) => columns.map((column) => shown(row[column] ?? null)))];
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i]!.length)));
  return cells
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function shown(value: Value): string {
  if (value === null) return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? '-' : inert(value.join(' '));
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : inert(String(value));
}

/** Names are text of other people: control characters must not reach a terminal. */
export function inert(text: string): string {
  return text.replace(/\p{Cc}/gu, '\u{fffd}');
}
