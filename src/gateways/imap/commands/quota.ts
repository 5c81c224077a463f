// Limits of resources: GETQUOTA, GETQUOTAROOT and SETQUOTA (RFC 9208). An account has no limit of storage or of messages, and a
// resource without a limit is not reported. The number of mailboxes has a limit, so the account is one quota root for it.
import { MOST_FOLDERS_OF_ROLE } from '../../../mail-format/folder-name.js';
import { type Command, command } from '../command.js';
import { type Completion, no, ok } from '../completion.js';
import { type SetQuotaArguments, setQuotaArguments } from '../grammar/quota.js';
import { mailboxTree, noSuchMailbox } from '../mailboxes/account-folders.js';
import type { MailboxTree } from '../mailboxes/mailbox-tree.js';
import { takesUtf8 } from '../responses/list.js';
import type { Session, SessionState } from '../session.js';
import { mailboxName } from '../wire/format.js';

const AFTER_LOGIN: readonly SessionState[] = ['authenticated', 'selected'];
/** The name of the only quota root. */
const ROOT = '';

export const quotaCommands: readonly Command[] = [
  command<string>({ name: 'GETQUOTA', states: AFTER_LOGIN, parse: (reader) => reader.astring(), run: getQuota }),
  command<string>({
    name: 'GETQUOTAROOT',
    states: AFTER_LOGIN,
    parse: (reader) => reader.mailbox(),
    run: getQuotaRoot,
  }),
  command<SetQuotaArguments>({
    name: 'SETQUOTA',
    states: AFTER_LOGIN,
    parse: setQuotaArguments,
    run: () => no('Limits cannot be changed', 'NOPERM'),
  }),
];

async function getQuota(session: Session, root: string): Promise<Completion> {
  if (root !== ROOT) return no('There is no such quota root', 'NONEXISTENT');
  session.output.write(quota(await mailboxTree(session)));
  return ok('GETQUOTA completed');
}

async function getQuotaRoot(session: Session, name: string): Promise<Completion> {
  const tree = await mailboxTree(session);
  if (tree.find(name)?.folder === undefined) return noSuchMailbox();
  session.output.write(`* QUOTAROOT ${mailboxName(name, takesUtf8(session))} "${ROOT}"\r\n${quota(tree)}`);
  return ok('GETQUOTAROOT completed');
}

/** CREATE makes labels, so the limit is the number of mailboxes plus the number of labels that may still be added. */
function quota({ mailboxes }: MailboxTree): string {
  const roles = mailboxes.flatMap(({ folder }) => (folder === undefined ? [] : [folder.role]));
  const room = Math.max(0, MOST_FOLDERS_OF_ROLE - roles.filter((role) => role === 'label').length);
  return `* QUOTA "${ROOT}" (MAILBOX ${roles.length} ${roles.length + room})\r\n`;
}
