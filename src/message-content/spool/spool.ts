// Holds the octets of a message between a socket and the store, for every gateway that receives messages. They are hashed and
// indexed, and kept in memory while they are few, otherwise in a file; one bound applies to all connections of the node
// (decisions 0006, 0011). The spool knows no protocol. The caller discards what does not become a message.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SpoolBudget, SUFFIX } from './spool-budget.js';
import { SpoolFile, STAGING_BYTES } from './spool-file.js';
import { BodyWriter, SpoolWriter } from './spool-writer.js';

export type { SpoolOptions } from './spool-budget.js';
export type { BodyWriter, SpooledContent, SpoolWriter } from './spool-writer.js';

/** Creates the directory and deletes what a killed process may have left in it. */
export async function prepareSpool(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory))
    if (name.endsWith(SUFFIX)) await rm(join(directory, name), { force: true });
}

export class Spool extends SpoolBudget {
  /** `holder`: the owner of the message, either an account id or the network of an address. */
  writer(holder: string): SpoolWriter {
    return new SpoolWriter(this, holder);
  }

  /** Returns a writer for a message whose header is written last. */
  bodyWriter(holder: string): BodyWriter {
    return new BodyWriter(this, holder);
  }

  /** Opens a file for octets that are not a message; the caller closes it. @throws SpoolFault */
  file(): Promise<SpoolFile> {
    return SpoolFile.create(this.directory, this.fileName(), STAGING_BYTES);
  }
}
