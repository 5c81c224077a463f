// Octets of a message on their way from a socket to the store, for every gateway that receives messages: hashed and
// indexed, kept in memory while they are few, else in a file, within one bound for all connections of the node
// (decisions 0006, 0011). The spool knows no protocol. The caller discards what does not become a message.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SpoolBudget, SUFFIX } from './spool-budget.js';
import { SpoolFile, STAGING_BYTES } from './spool-file.js';
import { BodyWriter, SpoolWriter } from './spool-writer.js';

export type { SpoolOptions } from './spool-budget.js';
export type { BodyWriter, SpooledContent, SpoolWriter } from './spool-writer.js';

/** Makes the directory and empties it of what a process that was killed may have left. */
export async function prepareSpool(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory))
    if (name.endsWith(SUFFIX)) await rm(join(directory, name), { force: true });
}

export class Spool extends SpoolBudget {
  /** `holder`: whose message it is, an account id or the network of an address. */
  writer(holder: string): SpoolWriter {
    return new SpoolWriter(this, holder);
  }

  /** For a message whose header is written last. */
  bodyWriter(holder: string): BodyWriter {
    return new BodyWriter(this, holder);
  }

  /** For octets that are no message: a file from the start, and the caller's to close. @throws SpoolFault */
  file(): Promise<SpoolFile> {
    return SpoolFile.create(this.directory, this.fileName(), STAGING_BYTES);
  }
}
