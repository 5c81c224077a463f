// Backups as streams of octets: `backupOctets` makes one of a snapshot, `openBackup` reads one.
import type { StoreSnapshot } from '../../store/backup/store-snapshot.js';
import { decodeBlocks, OctetReader } from './block-reader.js';
import { encodeBlocks } from './block-writer.js';
import { blocksOf, type ContentsReader, type KeptFile, type OpenedBackup, openContents } from './contents.js';
import { decrypted, type Encryption, encrypted, encrypterOf, isEncrypted, type Secrets } from './encryption.js';

export interface BackupParts {
  readonly snapshot: StoreSnapshot;
  readonly files: readonly KeptFile[];
  readonly encryption: Encryption | undefined;
  /** Is told the octets of rows so far. */
  progressed(octets: number): void;
}

export function backupOctets({ snapshot, files, encryption, progressed }: BackupParts): AsyncIterable<Uint8Array> {
  const octets = encodeBlocks(blocksOf(snapshot, files, progressed));
  return encryption === undefined ? octets : encrypted(octets, encrypterOf(encryption));
}

/** Reads the header of a backup, encrypted or not. @throws BackupFault */
export async function openBackup(octets: AsyncIterable<Uint8Array>, secrets: Secrets): Promise<OpenedBackup> {
  const reader = new OctetReader(octets);
  const plain = (await isEncrypted(reader)) ? new OctetReader(decrypted(reader, secrets)) : reader;
  return openContents(decodeBlocks(plain));
}

/** Passes over all contents, for a check of the file. */
export const IGNORED: ContentsReader = { table: async () => undefined, file: async () => undefined };
