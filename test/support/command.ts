// Runs a command of the program as an operator does: as its own process, with the settings of a node's data directory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { bareEnvironment, PROGRAM, storeSettings } from './node.js';

export async function mansio(
  dataDir: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
) {
  const env = { ...bareEnvironment(), ...storeSettings(dataDir), ...settings };
  const child = spawn(process.execPath, ['--', PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: code as number | null, stdout, stderr };
}
