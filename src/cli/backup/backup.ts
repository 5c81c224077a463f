// `mansio backup`: saves the whole store to one file, while nodes run or not. It reads one snapshot of the database and changes nothing but
// the note of the last backup.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { backupOctets } from '../../import-export/backup/backup.js';
import { writeBackupFile } from '../../import-export/backup/backup-file.js';
import type { KeptFile } from '../../import-export/backup/contents.js';
import { type Encryption, encrypterOf } from '../../import-export/backup/encryption.js';
import { readConfig } from '../../node/config/config.js';
import type { StoreSnapshot } from '../../store/backup/store-snapshot.js';
import { noteBackup } from '../../store/postgres/backup/last-backup.js';
import { withSnapshot } from '../../store/postgres/backup/snapshot.js';
import { fileFault, readNamed } from '../named-files.js';
import { CommandError, inert, reporting } from '../output.js';
import { progressTo } from '../progress.js';
import { readingStore } from '../store.js';

interface Options {
  readonly passphraseFile?: string;
  readonly recipient?: readonly string[];
  readonly json?: boolean;
}

/** `bytes`: octets of the file. */
export interface BackupCounts {
  readonly emails: number;
  readonly accounts: number;
  readonly bytes: number;
}

/** Files of the data directory that clients or operators rely on. Everything else there is of one node, or made again. */
export const KEPT_FILES: readonly string[] = ['tls-key.pem', 'tls-cert.pem', 'demo-api-key'];

export const STANDARD_STREAM = '-';

export function registerBackup(program: Command): void {
  const command = program
    .command('backup')
    .description('save the whole store to one file; nodes may run')
    .argument('<file>', 'the file; - writes to stdout')
    .option('--passphrase-file <file>', 'encrypt with the passphrase in its first line')
    .option('--recipient <recipient>', 'encrypt for this public key of age (age1…); may be repeated', added);
  reporting(
    command,
    (file: string, options: Options) => {
      // stdout has the backup.
      if (file === STANDARD_STREAM) command.configureOutput({ writeOut: (text) => process.stderr.write(text) });
      return backup(file, options);
    },
    ({ emails, accounts, bytes }) => `saved ${emails} emails of ${accounts} accounts: ${bytes} bytes`,
  );
}

function added(recipient: string, others: readonly string[] = []): readonly string[] {
  return [...others, recipient];
}

/** The first line of the file. */
export async function passphraseOf(file: string): Promise<string> {
  const [line = ''] = (await readNamed('--passphrase-file', file)).split(/\r?\n/);
  if (line === '') throw new CommandError(`--passphrase-file ${file}: its first line is empty`);
  return line;
}

async function encryptionOf({ passphraseFile, recipient = [] }: Options): Promise<Encryption | undefined> {
  if (passphraseFile !== undefined && recipient.length > 0)
    throw new CommandError('a backup is encrypted for a passphrase or for recipients: give one of the two');
  if (passphraseFile !== undefined) return { passphrase: await passphraseOf(passphraseFile) };
  if (recipient.length === 0) return undefined;
  encrypterOf({ recipients: recipient });
  return { recipients: recipient };
}

async function backup(file: string, options: Options): Promise<BackupCounts> {
  const encryption = await encryptionOf(options);
  if (file === STANDARD_STREAM && process.stdout.isTTY)
    throw new CommandError('a backup is not for a terminal: name a file, or send stdout to one');
  const progress = progressTo(process.stderr, options.json === true);
  try {
    return await readingStore(async (sql) => {
      const files = await keptFiles(readConfig().dataDir);
      if (encryption === undefined) {
        const secret = 'it holds private keys and mail: keep it from others, or give --recipient or --passphrase-file';
        progress.line(`warning: the backup is not encrypted, and ${secret}`);
      }
      const { facts, bytes } = await withSnapshot(sql, async (snapshot: StoreSnapshot) => {
        const total = snapshot.estimatedOctets;
        const megabytes = (octets: number) => `${Math.floor(octets / 1e6)} MB`;
        const progressed = (octets: number) => progress.show(Math.min(octets, total * 0.99), total, megabytes(octets));
        const octets = backupOctets({ snapshot, files, encryption, progressed });
        return { facts: snapshot.facts, bytes: await write(file, octets) };
      });
      await noteBackup(sql, { at: Date.parse(facts.at), bytes, isEncrypted: encryption !== undefined }).catch((error) =>
        progress.line(inert(`warning: the time of this backup could not be noted in the store: ${error.message}`)),
      );
      return { emails: facts.emails, accounts: facts.accounts, bytes };
    });
  } finally {
    progress.end();
  }
}

async function write(file: string, octets: AsyncIterable<Uint8Array>): Promise<number> {
  if (file === STANDARD_STREAM) return writeOut(octets);
  return writeBackupFile(file, octets).catch((error) => {
    throw fileFault('the backup', file, error);
  });
}

async function writeOut(octets: AsyncIterable<Uint8Array>): Promise<number> {
  // A reader that has gone is an error here.
  process.stdout.removeAllListeners('error').on('error', () => undefined);
  let written = 0;
  for await (const chunk of octets) {
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
    written += chunk.length;
  }
  return written;
}

async function keptFiles(directory: string): Promise<readonly KeptFile[]> {
  const files: KeptFile[] = [];
  for (const name of KEPT_FILES) {
    const path = join(directory, name);
    try {
      files.push({ name, text: await readFile(path, 'utf8') });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw fileFault('a file of the node,', path, error);
    }
  }
  return files;
}
