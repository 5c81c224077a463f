// What all IMAP sessions of a node share.

import type { InlineMessages } from '../../actors/mailbox/inline-messages.js';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import type { SignIn } from '../../auth/sign-in.js';
import type { Spool } from '../../content/spool/spool.js';
import type { BlobStore } from '../../store/blobs.js';
import type { ImapLimits } from './limits.js';
import type { MemoryShares } from './memory-shares.js';
import type { MessageSource } from './messages/message-source.js';
import type { ImapMeter } from './meter.js';
import type { FolderResults } from './search/folder-results.js';
import type { FolderMirrors } from './view/folder-mirrors.js';

export interface ImapContext {
  readonly hostname: string;
  readonly version: string;
  /** Octets of one message. */
  readonly maxMessageSize: number;
  readonly allowPlaintextAuth: boolean;
  readonly signIn: SignIn;
  readonly mailboxes: Mailboxes;
  readonly inlineMessages: Pick<InlineMessages, 'add'>;
  readonly blobs: BlobStore;
  readonly spool: Spool;
  readonly messages: MessageSource;
  readonly searchResults: FolderResults;
  readonly mirrors: FolderMirrors;
  readonly limits: ImapLimits;
  readonly memory: MemoryShares;
  readonly meter: ImapMeter;
}
