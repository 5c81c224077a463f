// Encryption of backups in the format of age (age-encryption.org/v1), which the program `age` opens too. With recipients the server that
// makes the backup has no secret: only the holder of the identity can read the file.
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { Decrypter, Encrypter } from 'age-encryption';
import { BackupFault } from '../../store/backup/store-snapshot.js';
import { BROKEN, type OctetReader } from './block-reader.js';

/** How a backup is encrypted: for a passphrase, or for recipients (`age1…`). */
export type Encryption = { readonly passphrase: string } | { readonly recipients: readonly string[] };

/** What opens an encrypted backup: a passphrase, or identities (`AGE-SECRET-KEY-1…`). */
export interface Secrets {
  readonly passphrase?: string | undefined;
  readonly identities: readonly string[];
}

const FIRST_LINE = 'age-encryption.org/v1\n';
/** 64 MiB of memory and 0.4 s for a passphrase; a passphrase from a file has no need to be short. */
const SCRYPT_WORK_FACTOR = 16;

/** @throws BackupFault for a recipient that is none */
export function encrypterOf(encryption: Encryption): Encrypter {
  const encrypter = new Encrypter();
  if ('passphrase' in encryption) {
    encrypter.setScryptWorkFactor(SCRYPT_WORK_FACTOR);
    encrypter.setPassphrase(encryption.passphrase);
    return encrypter;
  }
  for (const recipient of encryption.recipients) {
    // It is not repeated: others read logs of units.
    if (/^AGE-SECRET-KEY-/i.test(recipient))
      throw new BackupFault(
        '--recipient is a secret key of age: give its public key, which age-keygen -y prints (age1…)',
      );
    try {
      encrypter.addRecipient(recipient);
    } catch (error) {
      throw new BackupFault(`not a recipient of age: ${recipient} (age1…)`, { cause: error });
    }
  }
  return encrypter;
}

export async function* encrypted(octets: AsyncIterable<Uint8Array>, encrypter: Encrypter): AsyncGenerator<Uint8Array> {
  const plain = Readable.toWeb(Readable.from(octets, { objectMode: false })) as ReadableStream<Uint8Array>;
  yield* (await encrypter.encrypt(plain as never)) as unknown as ReadableStream<Uint8Array>;
}

export async function isEncrypted(reader: OctetReader): Promise<boolean> {
  return (await reader.peek(FIRST_LINE.length)).toString('latin1') === FIRST_LINE;
}

/** @throws BackupFault */
export async function* decrypted(reader: OctetReader, { passphrase, identities }: Secrets): AsyncGenerator<Uint8Array> {
  if (passphrase === undefined && identities.length === 0)
    throw new BackupFault(
      'the backup is encrypted: give --passphrase-file, or --identity-file for a file with recipients',
    );
  const decrypter = new Decrypter();
  if (passphrase !== undefined) decrypter.addPassphrase(passphrase);
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity);
    } catch (error) {
      throw new BackupFault('the identity file has a line that is no identity of age (AGE-SECRET-KEY-1…)', {
        cause: error,
      });
    }
  }
  const coded = Readable.toWeb(Readable.from(reader.rest(), { objectMode: false })) as ReadableStream<Uint8Array>;
  let plain: ReadableStream<Uint8Array>;
  try {
    plain = (await decrypter.decrypt(coded as never)) as unknown as ReadableStream<Uint8Array>;
  } catch (error) {
    throw new BackupFault('the backup does not open: it is encrypted for another passphrase or identity, or broken', {
      cause: error,
    });
  }
  try {
    yield* plain;
  } catch (error) {
    throw new BackupFault(BROKEN, { cause: error });
  }
}
