// What all POP3 sessions of a node share.
import type { BlobStore } from '../../store/blobs.js';
import type { FolderBlobStore } from '../../store/folder-messages.js';
import type { SessionContext } from '../sessions/mail-session.js';
import type { Pop3Limits } from './limits.js';
import type { Pop3Meter } from './meter.js';

export interface Pop3Context extends SessionContext {
  readonly messages: FolderBlobStore;
  readonly blobs: Pick<BlobStore, 'readAll' | 'stream'>;
  readonly limits: Pop3Limits;
  readonly meter: Pop3Meter;
}
