// What all POP3 sessions of a node share.
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import type { SignIn } from '../../auth/sign-in.js';
import type { BlobStore } from '../../store/blobs.js';
import type { FolderBlobStore } from '../../store/folder-messages.js';
import type { Pop3Limits } from './limits.js';
import type { Pop3Meter } from './meter.js';

export interface Pop3Context {
  readonly hostname: string;
  readonly version: string;
  readonly allowPlaintextAuth: boolean;
  readonly signIn: SignIn;
  readonly mailboxes: Mailboxes;
  readonly messages: FolderBlobStore;
  readonly blobs: Pick<BlobStore, 'readAll' | 'stream'>;
  readonly limits: Pop3Limits;
  readonly meter: Pop3Meter;
}
