// Port: the messages of a folder by UID, as IMAP and POP3 read them. A gateway reads them itself, without the owner of the mailbox:
// nothing of a row changes as long as the UID is in the folder, but for the thread, which may be joined with another.

/** What a row has beside its facts. */
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
  /** The header and the empty line behind it, at most `MOST_HEADER_OCTETS`; there when it was asked for. */
  readonly header?: Uint8Array;
  /** The MIME index as JSON; there when it was asked for. */
  readonly indexJson?: string;
}

/** A longer header is read as a range of the blob. */
export const MOST_HEADER_OCTETS = 256 * 1024;

export interface FolderMessageStore {
  /** By ascending UID, those that are there; one statement. @throws StoreFault */
  rows(
    accountId: string,
    folderId: string,
    uids: readonly number[],
    needs: FolderMessageNeeds,
  ): Promise<readonly FolderMessageRow[]>;
}

export interface FolderBlobStore {
  /** Hashes of the blobs of the messages with these UIDs, both included, by UID. @throws StoreFault */
  blobs(accountId: string, folderId: string, fromUid: number, toUid: number): Promise<ReadonlyMap<number, string>>;
}
