// A message that is not stored yet, on its way to a mailbox.
import type { MessageSummary } from '../../mail-format/summary.js';
import type { BlobContent } from '../blobs.js';

export interface UnstoredMessage {
  /** Readable as long as the message is on its way. */
  readonly content: BlobContent;
  readonly summary: MessageSummary;
}
