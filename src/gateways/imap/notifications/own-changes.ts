// What a command has changed, told to the session's notifier, so that the client is not notified of its own changes.
import type { MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Reply } from '../../../actors/runtime/protocol.js';
import type { Session } from '../session.js';

type Placed = Reply<MailboxProtocol, 'copy'>;

/** Messages were put into a folder under these UIDs. */
export function reportPlaced({ notifier }: Session, folderModseqs: Placed['folderModseqs'], uids: Placed['to']): void {
  if (folderModseqs === undefined) return;
  const { folderId, before: modseqBefore, after: modseq } = folderModseqs;
  notifier?.caused({ type: 'messages', folderId, uids, modseqBefore, modseq });
}
