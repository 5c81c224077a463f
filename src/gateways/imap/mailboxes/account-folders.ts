// The folders of the account of a session, looked up by the names that a client gives.
import { caseFolded } from '../../../mail/case-fold.js';
import { levelName, levelsOf } from '../../../mail/folder-name.js';
import { no, Refused } from '../completion.js';
import type { Session } from '../session.js';
import { MailboxTree } from './mailbox-tree.js';

const SYSTEM_ROLES: ReadonlySet<string> = new Set(['inbox', 'sent', 'drafts', 'archive', 'trash', 'junk']);

/** @throws ActorFault */
export async function mailboxTree({ context, accountId }: Session): Promise<MailboxTree> {
  const { reply } = await context.mailboxes.of(accountId).ask('folders', {});
  return new MailboxTree(reply!.folders, reply!.subscriptions);
}

/** System folders are not looked up, because their roles name them. Undefined for other names. */
export function systemReference(name: string): string | undefined {
  const role = caseFolded(name);
  return SYSTEM_ROLES.has(role) ? role : undefined;
}

/**
 * The id or the role of the folder.
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
 * `folderReference` of the mailbox that messages are to go to: the client may create one that is not there.
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

/** Whether a mailbox may be created by this name, as it is written. */
export const isFit = (name: string): boolean =>
  levelsOf(name).every((level) => {
    const read = levelName(level);
    return 'name' in read && read.name === level;
  });
