// Reports the changes of a command to the session's notifier, so that the client is not notified of its own changes, and to the
// mirror of the selected mailbox, so that the client is informed before the command completes.
import type { MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Reply } from '../../../actors/runtime/protocol.js';
import type { Session } from '../session.js';

type Placed = Reply<MailboxProtocol, 'copy'>;

/** Reports that messages were put into a folder under these UIDs. */
export function reportPlaced(
  { notifier, selected }: Session,
  folderModseqs: Placed['folderModseqs'],
  uids: Placed['to'],
): void {
  const { folderId, before: modseqBefore, after: modseq } = folderModseqs;
  if (selected?.folderId === folderId) selected.view.mirror.changedAt(modseq);
  notifier?.caused({ type: 'messages', folderId, uids, modseqBefore, modseq });
}
