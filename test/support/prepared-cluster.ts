// Data directories that are ready: with an embedded PostgreSQL that has the schema, and with a self-signed certificate. Both are made
// once, kept beside the installed packages, and copied for each test that does not look at the first start; another schema or another
// PostgreSQL has another name.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { selfSigned } from '../../src/node/tls-certificate.js';
import { findBinaries } from '../../src/store/embedded/binaries.js';
import { startEmbedded } from '../../src/store/embedded.js';
import { connect } from '../../src/store/postgres/client.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { temporaryDirectory } from './temporary-directory.js';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/mansio/', import.meta.url));
const STORE = fileURLToPath(new URL('../../src/store/', import.meta.url));
/** ms without use: tests of another version may run at the same time. */
const OLD_MS = 24 * 3_600_000;

let prepared: Promise<string> | undefined;
let certificate: Promise<string> | undefined;

/** Removed with the process. */
export async function preparedDirectory(prefix: string): Promise<string> {
  prepared ??= prepare();
  const directory = temporaryDirectory(prefix);
  await copy(await prepared, join(directory, 'postgres'));
  await giveCertificate(directory);
  return directory;
}

/** Puts a certificate where the start of a node, which would take a tenth longer for making it, looks for one. */
export async function giveCertificate(dataDir: string): Promise<void> {
  certificate ??= makeCertificate();
  const from = await certificate;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const name of ['tls-cert.pem', 'tls-key.pem']) copyFileSync(join(from, name), join(dataDir, name));
}

async function makeCertificate(): Promise<string> {
  const log = pino({ level: 'silent' });
  const kept = join(CACHE, `certificate-${process.getuid?.()}`);
  try {
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    await selfSigned(kept, hostname(), log);
    return kept;
  } catch {
    const own = temporaryDirectory('mansio-certificate-');
    await selfSigned(own, hostname(), log);
    return own;
  }
}

async function prepare(): Promise<string> {
  const name = `cluster-${fingerprint()}`;
  const path = join(CACHE, name);
  if (isUsed(path)) return path;
  const made = await make();
  const fresh = `${path}.new-${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(CACHE, { recursive: true });
    removeOld();
    // Whole or not at all, however many processes make one at the same time: whoever comes second cannot rename it.
    await copy(made, fresh);
    renameSync(fresh, path);
    return path;
  } catch {
    // The packages may belong to somebody else: this process alone has it then.
    rmSync(fresh, { recursive: true, force: true });
    return isUsed(path) ? path : made;
  }
}

/** Whether it is there; the time of its use is noted where it can be. */
function isUsed(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Packages that cannot be written: nobody removes them either.
  }
  return true;
}

/** What no run can be using any more: of other versions, and of makers that were killed. */
function removeOld(): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > OLD_MS) rmSync(path, { recursive: true, force: true });
  }
}

async function make(): Promise<string> {
  const dataDir = temporaryDirectory('mansio-prepared-');
  const database = await startEmbedded({ dataDir, log: pino({ level: 'silent' }) });
  const sql = connect(database.address, { max: 1, applicationName: 'test' });
  await migrate(sql);
  await sql.end();
  await database.stop();
  const directory = join(dataDir, 'postgres');
  if (existsSync(join(directory, 'postmaster.pid'))) throw new Error('the prepared database has not stopped');
  // Its shared memory is in its directory and goes with it, also when it is killed; /dev/shm would keep it.
  appendFileSync(join(directory, 'postgresql.conf'), 'dynamic_shared_memory_type = mmap\n');
  return directory;
}

/** Of all that decides what is in the cluster, and of who may read it. */
function fingerprint(): string {
  const hash = createHash('sha256').update(`${process.getuid?.()} ${process.platform} ${process.arch}`);
  const migrations = join(STORE, 'postgres/migrations');
  const files = [
    fileURLToPath(import.meta.url),
    join(findBinaries().root, '../package.json'),
    join(STORE, 'embedded/server.js'),
    join(STORE, 'postgres/migrate.js'),
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
