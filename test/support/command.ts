// Runs a command of the program as an operator does: as its own process, with the settings of a node's data directory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { bareEnvironment, PROGRAM, storeSettings } from './node.js';
import { patiently } from './patience.js';

/** In ms: a command may read or write a whole store. */
const PATIENCE_MS = 480_000;

/** @throws when it does not end in eight minutes */
export async function mansio(
  dataDir: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
) {
  const env = { ...bareEnvironment(), ...storeSettings(dataDir), ...settings };
  const child = spawn(process.execPath, ['--', PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  try {
    const [stdout, stderr, [code]] = await patiently(ended, () => `the end of mansio ${args.join(' ')}`, PATIENCE_MS);
    return { code: code as number | null, stdout, stderr };
  } finally {
    child.kill('SIGKILL');
  }
}
