// Implements folders of messages in memory for tests of the message source: each statement is counted, and waits when told to.
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import type { FolderMessageRow, FolderMessageStore } from '../../../../src/store/folder-messages.js';

export interface Statement {
  readonly accountId: string;
  readonly folderId: string;
  readonly uids: readonly number[];
}

export class FakeFolderStore implements FolderMessageStore {
  readonly statements: Statement[] = [];
  /** Each statement awaits it before it reads the folder, and again before it answers. */
  pause: () => Promise<void> = async () => {};
  readonly #folders = new Map<string, Map<number, Required<FolderMessageRow>>>();

  add(folderId: string, uid: number, raw: string | Buffer = `Subject: ${folderId} ${uid}\r\n\r\nbody ${uid}`): void {
    const bytes = Buffer.from(raw);
    const index = indexMessage(bytes);
    const emailId = `${folderId}-${uid}`;
    const row: Required<FolderMessageRow> = {
      uid,
      emailId,
      threadId: emailId,
      blob: emailId,
      size: bytes.length,
      receivedAt: uid,
      savedAt: uid + 1,
      preview: index.preview,
      header: bytes.subarray(0, index.root.bodyStart),
      indexJson: JSON.stringify(index),
    };
    this.folder(folderId).set(uid, row);
  }

  folder(folderId: string): Map<number, Required<FolderMessageRow>> {
    const folder = this.#folders.get(folderId) ?? new Map<number, Required<FolderMessageRow>>();
    this.#folders.set(folderId, folder);
    return folder;
  }

  async rows(
    accountId: string,
    folderId: string,
    uids: readonly number[],
    needs: { header: boolean; index: boolean },
  ): Promise<readonly FolderMessageRow[]> {
    this.statements.push({ accountId, folderId, uids });
    await this.pause();
    const found = uids.toSorted((a, b) => a - b).flatMap((uid) => this.folder(folderId).get(uid) ?? []);
    const rows = found.map(({ header, indexJson, ...facts }) => ({
      ...facts,
      ...(needs.header && { header }),
      ...(needs.index && { indexJson }),
    }));
    await this.pause();
    return rows;
  }
}
