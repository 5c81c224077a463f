// `mansio restore`: fills an empty store from a backup, or with --check only reads the file. A file is read to its end before anything is
// written; a stream is written in a transaction that ends after the last octet has been checked. The files of the data directory follow the
// commit, so that a restore which fails or is killed has changed none of them.
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { IGNORED, openBackup } from '../../import-export/backup/backup.js';
import type { KeptFile, OpenedBackup } from '../../import-export/backup/contents.js';
import type { Secrets } from '../../import-export/backup/encryption.js';
import { readConfig } from '../../node/config/config.js';
import { BackupFault, type SnapshotFacts } from '../../store/backup/store-snapshot.js';
import { writePrivate } from '../../store/local/data-directory.js';
import { fillStore, refuseUnknownSchema, refuseUsedStore } from '../../store/postgres/backup/filling.js';
import { postgresOutbound } from '../../store/postgres/outbound/outbound.js';
import { demandNamed, fileFault, readNamed } from '../named-files.js';
import { CommandError, reporting } from '../output.js';
import { type Progress, progressTo } from '../progress.js';
import { hasStore, restoringStore } from '../store.js';
import { type BackupCounts, KEPT_FILES, passphraseOf, STANDARD_STREAM } from './backup.js';

interface Options {
  readonly check?: boolean;
  readonly passphraseFile?: string;
  readonly identityFile?: string;
  readonly releaseQueue?: boolean;
  readonly json?: boolean;
}

const CHUNK_OCTETS = 1024 * 1024;

export function registerRestore(program: Command): void {
  const command = program
    .command('restore')
    .description('fill an empty store from a backup; stop its nodes before')
    .argument('<file>', 'the file; - reads stdin')
    .option('--check', 'only read the file to its end, and change nothing')
    .option('--passphrase-file <file>', 'its first line opens a backup that is encrypted with a passphrase')
    .option('--identity-file <file>', 'its identities of age (AGE-SECRET-KEY-1…) open a backup that has recipients')
    .option('--release-queue', 'deliver outbound email that was not final, without mansio queue release');
  reporting(
    command,
    (file: string, options: Options) => (options.check === true ? check(file, options) : restore(file, options)),
    ({ emails, accounts, bytes }) =>
      `${command.opts<Options>().check === true ? 'sound: ' : 'restored '}${emails} emails of ${accounts} accounts, ${bytes} bytes`,
  );
}

/** A file, or a stream, whose octets can be read once. */
class Source {
  readonly size: number | undefined;
  /** Octets that were read. */
  read = 0;
  readonly #path: string;
  readonly #progress: Progress;

  private constructor(path: string, size: number | undefined, progress: Progress) {
    this.#path = path;
    this.size = size;
    this.#progress = progress;
  }

  static async of(path: string, progress: Progress): Promise<Source> {
    if (path === STANDARD_STREAM) return new Source(path, undefined, progress);
    const status = await stat(path).catch((error) => {
      throw fileFault('the backup', path, error);
    });
    if (!status.isFile()) return new Source(path, undefined, progress);
    await demandNamed('the backup', path, 'file');
    return new Source(path, status.size, progress);
  }

  /** The octets from the beginning. `what`: a word for the progress. */
  async *octets(what: string): AsyncGenerator<Uint8Array> {
    this.read = 0;
    const isStream = this.#path === STANDARD_STREAM;
    const octets = isStream ? process.stdin : createReadStream(this.#path, { highWaterMark: CHUNK_OCTETS });
    try {
      for await (const chunk of octets as AsyncIterable<Buffer>) {
        this.read += chunk.length;
        this.#progress.show(this.read, this.size ?? 0, `${what}: ${Math.floor(this.read / 1e6)} MB`);
        yield chunk;
      }
    } catch (error) {
      throw fileFault('the backup', this.#path, error);
    }
  }
}

async function secretsOf({ passphraseFile, identityFile }: Options): Promise<Secrets> {
  const passphrase = passphraseFile === undefined ? undefined : await passphraseOf(passphraseFile);
  const lines = identityFile === undefined ? [] : (await readNamed('--identity-file', identityFile)).split(/\r?\n/);
  const identities = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  if (identityFile !== undefined && identities.length === 0)
    throw new CommandError(`--identity-file ${identityFile}: it has no identity`);
  return { passphrase, identities };
}

const countsOf = ({ emails, accounts }: SnapshotFacts, bytes: number): BackupCounts => ({ emails, accounts, bytes });

async function check(file: string, options: Options): Promise<BackupCounts> {
  const progress = progressTo(process.stderr, options.json === true);
  try {
    const source = await Source.of(file, progress);
    return countsOf(await checked(source, await secretsOf(options)), source.read);
  } finally {
    progress.end();
  }
}

/** `begun` is called after the header has been read. */
async function checked(source: Source, secrets: Secrets, begun = async () => {}): Promise<SnapshotFacts> {
  const { facts, read } = await openBackup(source.octets('checked'), secrets);
  await refuseUnknownSchema(facts);
  await begun();
  await read(IGNORED);
  return facts;
}

async function refuseUsed(): Promise<void> {
  if (hasStore()) await restoringStore(refuseUsedStore);
}

async function restore(file: string, options: Options): Promise<BackupCounts> {
  const progress = progressTo(process.stderr, options.json === true);
  try {
    const source = await Source.of(file, progress);
    const secrets = await secretsOf(options);
    // A large file takes long to check, so a store that cannot be filled is refused before.
    if (source.size !== undefined) await checked(source, secrets, refuseUsed);
    const opened = await openBackup(source.octets('restored'), secrets);
    await refuseUnknownSchema(opened.facts);
    const waiting = await restoringStore(async (sql) => {
      const releasesQueue = options.releaseQueue === true;
      const files: KeptFile[] = [];
      const { facts } = opened;
      await fillStore(sql, {
        facts,
        releasesQueue,
        fill: (store) => fill(opened, store.fill, files),
        committed: () => putFiles(files),
      });
      return postgresOutbound(sql).awaitingRelease();
    });
    progress.end();
    if (waiting > 0)
      progress.line(
        `${waiting} outbound emails wait: mansio queue list shows them, mansio queue release delivers them`,
      );
    return countsOf(opened.facts, source.read);
  } finally {
    progress.end();
  }
}

/** `files` gets the files of the data directory. */
async function fill(
  { read }: OpenedBackup,
  table: Parameters<OpenedBackup['read']>[0]['table'],
  files: KeptFile[],
): Promise<void> {
  await read({
    table,
    file: async (file) => {
      if (!KEPT_FILES.includes(file.name))
        throw new BackupFault(`the backup has a file of an unknown name: ${file.name}`);
      files.push(file);
    },
  });
}

/** With a database of DATABASE_URL there may be no data directory yet. */
function putFiles(files: readonly KeptFile[]): void {
  const { dataDir } = readConfig();
  if (!existsSync(dataDir)) return;
  for (const { name, text } of files) {
    try {
      writePrivate(join(dataDir, name), text);
    } catch (error) {
      const why = `${(error as Error).message}: without it, the next start makes another one`;
      throw new CommandError(`the store is restored, but ${name} of the data directory cannot be written: ${why}`);
    }
  }
}
