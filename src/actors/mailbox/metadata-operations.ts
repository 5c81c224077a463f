// Operations on annotations of folders and of the account (RFC 5464): named values that mail programs store with a mailbox.
import { array, nullable, object, pattern, string } from 'superstruct';
import { command, query } from '../runtime/protocol.js';

/** Names compare without regard to case; no wildcard, no empty part, US-ASCII (RFC 5464 §3.2). */
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
    /**
     * `tooMany`: more than 100 entries in the folder; `tooLarge`: a value above 64 kB, a name above 1,000 octets, or more than 1 MB in the
     * account.
     */
    refusals: ['noSuchFolder', 'tooMany', 'tooLarge'],
    onRepeat: 'remembered',
  }),
  /** Returns the entries sorted by name, in lower case. */
  metadata: query({
    payload: object({ folderId }),
    reply: object({ entries: array(object({ name: string(), value: string() })) }),
    refusals: ['noSuchFolder'],
  }),
};
