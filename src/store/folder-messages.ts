// Port: the messages of a folder by UID, for IMAP and POP3. A gateway reads them itself, without the owner of the mailbox: a row
// does not change while its UID is in the folder, except for the thread, which may be joined with another.

/** What a row contains in addition to the always present fields. */
export interface FolderMessageNeeds {
  readonly header: boolean;
  readonly index: boolean;
}

export interface FolderMessageRow {
  readonly uid: number;
  readonly emailId: string;
  readonly threadId: string;
  /** SHA-256 of the raw message. */
  readonly blob: string;
  /** Octets. */
  readonly size: number;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** When the email was put into the folder, ms since the epoch. */
  readonly savedAt: number;
  readonly preview: string;
  /** The header and the empty line after it, at most `MOST_HEADER_OCTETS`; present when it was requested. */
  readonly header?: Uint8Array;
  /** The MIME index as JSON; present when it was requested. */
  readonly indexJson?: string;
}

/** A longer header is read as a range of the blob. */
export const MOST_HEADER_OCTETS = 256 * 1024;

export interface FolderMessageStore {
  /** The rows that exist, by ascending UID, read by one statement. @throws StoreFault */
  rows(
    accountId: string,
    folderId: string,
    uids: readonly number[],
    needs: FolderMessageNeeds,
  ): Promise<readonly FolderMessageRow[]>;
}

export interface FolderBlobStore {
  /** Hashes by UID of the blobs of the messages from `fromUid` to `toUid`, both included. @throws StoreFault */
  blobs(accountId: string, folderId: string, fromUid: number, toUid: number): Promise<ReadonlyMap<number, string>>;
}
