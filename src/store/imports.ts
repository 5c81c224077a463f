// Port: mail that an operator imports. A row here is the promise to place the message, as `inbound` is for accepted mail: only
// the commit that places the email deletes the row. The id of a row derives from account, folder and bytes, so that a repeated
// import finds what it has done.
import { createHash } from 'node:crypto';
import { uuidV8 } from '../mail-format/ids.js';
import { caseFolded } from '../mail-format/words/case-fold.js';
import type { BlobContent } from './blobs.js';
import type { InboundEnvelope } from './inbound.js';
import type { Usage } from './limits/quotas.js';

interface ImportEnvelope extends InboundEnvelope {
  /** Path of the folder, which is created when it is missing. */
  readonly folder: string;
  /** Name of a label that the email also gets, created when it is missing. */
  readonly label?: string;
  /** Names of flags and keywords. */
  readonly flags: readonly string[];
}

export interface ImportedMessage {
  readonly content: BlobContent;
  readonly envelope: ImportEnvelope;
}

export interface PendingImport {
  /** UUID. */
  readonly id: string;
  /** Rises in the order of the import. */
  readonly number: number;
  readonly blob: string;
  readonly envelope: ImportEnvelope;
}

/** Position in a mailbox on an IMAP server: its messages up to `uid` are imported. */
export interface ImportPosition {
  readonly uidValidity: number;
  readonly uid: number;
}

export interface ImportStore {
  /**
   * Returns those of these blobs, by hash, that an email in the folder has or that wait to be placed there; without a folder, in
   * any folder.
   */
  present(accountId: string, folder: string | undefined, hashes: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Commits blobs and rows, all or nothing, of messages that the folder does not hold; returns how many were added. @throws
   * StoreFault, `store-conflict` when the account is gone
   */
  add(accountId: string, messages: readonly ImportedMessage[]): Promise<number>;
  /** Rows that wait to be placed. */
  waiting(accountId: string): Promise<number>;
  /** What these messages will use. */
  waitingUse(accountId: string): Promise<Usage>;
  /** Accounts on these shards that have rows. */
  accounts(shards: readonly number[]): Promise<readonly string[]>;
  /** Rows after the number `after`, in order. */
  next(accountId: string, after: number, limit: number): Promise<readonly PendingImport[]>;
  /** `source`: server, user and mailbox as one text. */
  position(accountId: string, source: string): Promise<ImportPosition | undefined>;
  setPosition(accountId: string, source: string, position: ImportPosition): Promise<void>;
}

/** Id of the row of a message. */
export function importId(accountId: string, folder: string, hash: string): string {
  return uuidV8(
    createHash('sha256')
      .update(`${accountId}\0${caseFolded(folder)}\0${hash}`)
      .digest(),
  );
}

/** Ids of accepted mail are UUIDs of version 7. An import id recurs when its message was deleted and is imported again. */
export const isImportId = (id: string): boolean => id[14] === '8';
