// Operations on annotations of folders and of the account (RFC 5464): named values that mail programs keep with a mailbox.
import { array, nullable, object, pattern, string } from 'superstruct';
import { command, query } from '../runtime/protocol.js';

/** Names compare without case; no wildcard, no empty part, US-ASCII (RFC 5464 §3.2). */
const entryName = pattern(string(), /^(\/[!-$&-)+-.0-~ ]+)+$/);
/** null: the whole account. */
const folderId = nullable(string());

export const metadataOperations = {
  setMetadata: command({
    payload: object({
      folderId,
      /** Values in base64; null removes the entry. */
      entries: array(object({ name: entryName, value: nullable(string()) })),
    }),
    reply: object({}),
    /** `tooMany`: more than 100 entries of the folder; `tooLarge`: a value beyond 64 kB, a name beyond 1,000 octets, or all of the account beyond 1 MB. */
    refusals: ['noSuchFolder', 'tooMany', 'tooLarge'],
    onRepeat: 'remembered',
  }),
  /** By name, in lower case. */
  metadata: query({
    payload: object({ folderId }),
    reply: object({ entries: array(object({ name: string(), value: string() })) }),
    refusals: ['noSuchFolder'],
  }),
};
