// What all IMAP sessions of a node share.

import type { AccountQuotas } from '../../actors/quotas/protocol.js';
import type { Spool } from '../../message-content/spool/spool.js';
import type { BlobStore } from '../../store/blobs.js';
import type { InlineMessages } from '../../store/inline/inline-messages.js';
import type { SessionContext } from '../sessions/mail-session.js';
import type { ImapLimits } from './limits.js';
import type { MemoryLimiters } from './memory-limiters.js';
import type { MessageSource } from './messages/message-source.js';
import type { ImapMeter } from './meter.js';
import type { FolderResults } from './search/folder-results.js';
import type { FolderMirrors } from './view/folder-mirrors.js';

export interface ImapContext extends SessionContext {
  /** Octets of one message. */
  readonly maxMessageSize: number;
  readonly inlineMessages: Pick<InlineMessages, 'commit'>;
  readonly blobs: BlobStore;
  readonly spool: Spool;
  readonly messages: MessageSource;
  readonly searchResults: FolderResults;
  readonly mirrors: FolderMirrors;
  readonly limits: ImapLimits;
  readonly memory: MemoryLimiters;
  readonly meter: ImapMeter;
  /** Absent: nothing has a limit. */
  readonly quotas?: AccountQuotas;
}
