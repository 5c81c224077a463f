// The messages of folders in memory.
import { uuidTime } from '../../../src/mail-format/ids.js';
import type { BlobStore } from '../../../src/store/blobs.js';
import {
  type FolderBlobStore,
  type FolderMessageRow,
  type FolderMessageStore,
  MOST_HEADER_OCTETS,
} from '../../../src/store/folder-messages.js';
import type { MemoryTables } from './tables.js';

export function memoryFolderMessages(
  tables: MemoryTables,
  blobs: Pick<BlobStore, 'index' | 'read'>,
): FolderMessageStore & FolderBlobStore {
  return {
    async blobs(accountId, folderId, fromUid, toUid) {
      const { placements, emails } = tables.of(accountId);
      const found = new Map<number, string>();
      for (const [uid, { emailId }] of placements.get(folderId) ?? []) {
        if (uid >= fromUid && uid <= toUid) found.set(uid, emails.get(emailId)!.blob);
      }
      return found;
    },
    async rows(accountId, folderId, uids, needs) {
      const { placements, emails } = tables.of(accountId);
      const rows: FolderMessageRow[] = [];
      for (const uid of [...new Set(uids)].sort((a, b) => a - b)) {
        const placement = placements.get(folderId)?.get(uid);
        const email = emails.get(placement?.emailId ?? '');
        if (email === undefined) continue;
        const { id: emailId, threadId, blob, size, receivedAt, preview } = email;
        const facts = {
          uid,
          emailId,
          threadId,
          blob,
          size,
          receivedAt,
          savedAt: placement?.savedAt ?? uuidTime(emailId),
          preview,
        };
        const index = needs.header || needs.index ? await blobs.index(blob) : undefined;
        if (index === undefined) {
          if (!needs.header && !needs.index) rows.push(facts);
          continue;
        }
        const headerEnd = Math.min(index.root.bodyStart, MOST_HEADER_OCTETS);
        rows.push({
          ...facts,
          ...(needs.header && { header: await blobs.read(blob, 0, headerEnd) }),
          ...(needs.index && { indexJson: JSON.stringify(index) }),
        });
      }
      return rows;
    },
  };
}
