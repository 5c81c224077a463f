// A data directory whose embedded PostgreSQL has the schema already. The cluster is made once, kept beside the installed packages,
// and copied for each test that does not look at the first start; another schema or another PostgreSQL has another name.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { findBinaries } from '../../src/store/embedded/binaries.js';
import { startEmbedded } from '../../src/store/embedded.js';
import { connect } from '../../src/store/postgres/client.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { temporaryDirectory } from './temporary-directory.js';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/mansio/', import.meta.url));
const STORE = fileURLToPath(new URL('../../src/store/', import.meta.url));

let prepared: Promise<string> | undefined;

/** Removed with the process. */
export async function preparedDirectory(prefix: string): Promise<string> {
  prepared ??= prepare();
  const directory = temporaryDirectory(prefix);
  await copy(await prepared, join(directory, 'postgres'));
  return directory;
}

async function prepare(): Promise<string> {
  const name = `cluster-${fingerprint()}`;
  const path = join(CACHE, name);
  if (existsSync(path)) return path;
  const made = await make();
  try {
    mkdirSync(CACHE, { recursive: true });
    for (const other of readdirSync(CACHE)) {
      if (!other.startsWith(name)) rmSync(join(CACHE, other), { recursive: true, force: true });
    }
    // Whole or not at all, however many processes make one at the same time.
    const fresh = `${path}.new-${randomBytes(6).toString('hex')}`;
    await copy(made, fresh);
    if (existsSync(path)) rmSync(fresh, { recursive: true });
    else renameSync(fresh, path);
    return path;
  } catch {
    // The packages may belong to somebody else: this process alone has it then.
    return made;
  }
}

async function make(): Promise<string> {
  const dataDir = temporaryDirectory('mansio-prepared-');
  const database = await startEmbedded({ dataDir, log: pino({ level: 'silent' }) });
  const sql = connect(database.address, { max: 1, applicationName: 'test' });
  await migrate(sql);
  await sql.end();
  await database.stop();
  return join(dataDir, 'postgres');
}

/** Of all that decides what is in the cluster, and of who may read it. */
function fingerprint(): string {
  const hash = createHash('sha256').update(`${process.getuid?.()} ${process.platform} ${process.arch}`);
  const migrations = join(STORE, 'postgres/migrations');
  const files = [
    join(findBinaries().root, '../package.json'),
    join(STORE, 'embedded/server.js'),
    ...readdirSync(migrations)
      .sort()
      .map((name) => join(migrations, name)),
  ];
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to]);
}
