// Finds programs that are not part of Mansio, and tells how to install a missing one.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** System programs may be missing from a user's PATH. */
const FURTHER = ['/usr/local/bin', '/usr/local/sbin', '/usr/sbin', '/sbin', '/opt/homebrew/bin'];

const ADVICE: Readonly<Record<string, string>> = {
  'nats-server':
    'apt-get install nats-server, brew install nats-server, or the program of a release of nats-io/nats-server',
  haproxy: 'apt-get install haproxy, or brew install haproxy',
};

export class MissingProgram extends Error {
  override readonly name = 'MissingProgram';
}

/** Returns the path of a program; undefined when it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...FURTHER];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** @throws MissingProgram that tells how to install it */
export function requireProgram(name: string): string {
  const found = findProgram(name);
  if (found !== undefined) return found;
  throw new MissingProgram(`${name} is not installed: ${ADVICE[name] ?? `install it, or put it on PATH`}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
