// Finds the folders of a session's account by the names that a client gives.

import { levelName, levelsOf } from '../../../mail-format/folder-name.js';
import { no, Refused } from '../completion.js';
import type { Session } from '../session.js';
import { MailboxTree, systemReference } from './mailbox-tree.js';

/** @throws ActorFault */
export async function mailboxTree({ context, accountId }: Session): Promise<MailboxTree> {
  const { reply } = await context.mailboxes.of(accountId).ask('folders', {});
  return new MailboxTree(reply!.folders, reply!.subscriptions);
}

/**
 * Returns the id or the role of the folder.
 * @throws ActorFault; Refused NO when there is no such mailbox
 */
export async function folderReference(session: Session, name: string): Promise<string> {
  const role = systemReference(name);
  if (role !== undefined) return role;
  const { context, accountId } = session;
  const { reply } = await context.mailboxes.of(accountId).ask('folderAt', { path: name });
  if (reply === undefined || reply.folderId === null) throw new Refused(noSuchMailbox());
  return reply.folderId;
}

/**
 * `folderReference` for the target of messages: tells the client that it may create a missing mailbox.
 * @throws ActorFault; Refused NO when there is no such mailbox
 */
export async function targetReference(session: Session, name: string): Promise<string> {
  try {
    return await folderReference(session, name);
  } catch (error) {
    if (error instanceof Refused && isFit(name)) throw new Refused(no('There is no such mailbox', 'TRYCREATE'));
    throw error;
  }
}

export const noSuchMailbox = () => no('There is no such mailbox', 'NONEXISTENT');

/** Tells whether a mailbox may be created with exactly this name. */
export const isFit = (name: string): boolean =>
  levelsOf(name).every((level) => {
    const read = levelName(level);
    return 'name' in read && read.name === level;
  });
