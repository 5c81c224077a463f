// Prepared data directories: with an embedded PostgreSQL that has the schema, and with a self-signed certificate. Both are made once,
// stored next to the installed packages, and copied for each test that does not test the first start; another schema or another PostgreSQL
// has another name.
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
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { selfSigned } from '../../../src/node/tls/tls-certificate.js';
import { findBinaries } from '../../../src/store/embedded/binaries.js';
import { startEmbedded } from '../../../src/store/embedded/embedded.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { migrate } from '../../../src/store/postgres/migrate.js';

const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/mansio/', import.meta.url));
const STORE = fileURLToPath(new URL('../../../src/store/', import.meta.url));
/** A copy is old after this time in ms without use: tests of another version may run at the same time. */
const OLD_MS = 24 * 3_600_000;

let prepared: Promise<string> | undefined;
let certificate: Promise<string> | undefined;

/** The directory is removed with the process. */
export async function preparedDirectory(prefix: string): Promise<string> {
  prepared ??= prepare();
  const directory = temporaryDirectory(prefix);
  await copy(await prepared, join(directory, 'postgres'));
  await giveCertificate(directory);
  return directory;
}

/** Puts a certificate where the start of a node looks for one; making it would lengthen the start by a tenth. */
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
    // The rename is atomic, however many processes make one at the same time: the second one cannot rename its own.
    await copy(made, fresh);
    renameSync(fresh, path);
    return path;
  } catch {
    // The packages may belong to another user: then only this process uses it.
    rmSync(fresh, { recursive: true, force: true });
    return isUsed(path) ? path : made;
  }
}

/** Returns true when the copy exists; records the time of its use if it can. */
function isUsed(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // These packages are read-only: nobody removes the copy either.
  }
  return true;
}

/** Removes copies that no run uses any more: those of other versions, and those of killed makers. */
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
  // The shared memory is in the directory and is removed with it, even after a kill; /dev/shm would keep it.
  appendFileSync(join(directory, 'postgresql.conf'), 'dynamic_shared_memory_type = mmap\n');
  return directory;
}

/** Hashes everything that decides what is in the cluster, and who may read it. */
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
