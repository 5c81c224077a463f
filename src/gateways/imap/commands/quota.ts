// Limits of resources: GETQUOTA, GETQUOTAROOT and SETQUOTA (RFC 9208). The account is one quota root, and its domain is another one where
// that has a limit. A resource without a limit is not reported: octets in units of 1,024 (STORAGE), messages, and mailboxes of the account,
// which always have a limit.
import { type AccountUsage, limitingDomain } from '../../../actors/quotas/protocol.js';
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
/** The name of the quota root of the account. That of the domain has the name of the domain. */
const ROOT = '';
/** RFC 9208 §5.1: STORAGE counts units of this many octets. */
const STORAGE_UNIT = 1024;

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
  const roots = quotas(await usageOf(session), await mailboxTree(session));
  const found = roots.find(({ name }) => name === root);
  if (found === undefined) return no('There is no such quota root', 'NONEXISTENT');
  session.output.write(found.response);
  return ok('GETQUOTA completed');
}

async function getQuotaRoot(session: Session, name: string): Promise<Completion> {
  const tree = await mailboxTree(session);
  if (tree.find(name)?.folder === undefined) return noSuchMailbox();
  const roots = quotas(await usageOf(session), tree);
  const names = roots.map(({ name }) => `"${name}"`).join(' ');
  const responses = roots.map(({ response }) => response).join('');
  session.output.write(`* QUOTAROOT ${mailboxName(name, takesUtf8(session))} ${names}\r\n${responses}`);
  return ok('GETQUOTAROOT completed');
}

/** Names the domain in a refusal where the quota of the domain leaves no room. */
export async function namingFullDomain(session: Session, refusal: Completion): Promise<Completion> {
  const usage = await usageOf(session).catch(() => undefined);
  const domain = usage && limitingDomain(usage);
  return domain === undefined ? refusal : { ...refusal, text: `The domain ${domain} is full` };
}

const usageOf = async ({ context, accountId }: Session): Promise<AccountUsage | undefined> =>
  context.quotas?.usageOf(accountId);

interface QuotaRoot {
  readonly name: string;
  /** The response QUOTA. */
  readonly response: string;
}

function quotas(usage: AccountUsage | undefined, tree: MailboxTree): readonly QuotaRoot[] {
  const own = [...(usage === undefined ? [] : limitedResources(usage)), mailboxes(tree)];
  const shared = usage?.domain === undefined ? [] : [quotaRoot(usage.domain.name, limitedResources(usage.domain))];
  return [quotaRoot(ROOT, own), ...shared];
}

const quotaRoot = (name: string, resources: readonly string[]): QuotaRoot => ({
  name,
  response: `* QUOTA "${name}" (${resources.join(' ')})\r\n`,
});

/** A part of a unit counts as one, so that a full mailbox is shown as full. */
function limitedResources({ used, limit }: Pick<AccountUsage, 'used' | 'limit'>): readonly string[] {
  const storage = (bytes: number) => Math.ceil(bytes / STORAGE_UNIT);
  return [
    ...(limit.bytes === null ? [] : [`STORAGE ${storage(used.bytes)} ${storage(limit.bytes)}`]),
    ...(limit.messages === null ? [] : [`MESSAGE ${used.messages} ${limit.messages}`]),
  ];
}

/** CREATE makes labels, so the limit is the number of mailboxes plus the number of labels that may still be added. */
function mailboxes({ mailboxes }: MailboxTree): string {
  const roles = mailboxes.flatMap(({ folder }) => (folder === undefined ? [] : [folder.role]));
  const room = Math.max(0, MOST_FOLDERS_OF_ROLE - roles.filter((role) => role === 'label').length);
  return `MAILBOX ${roles.length} ${roles.length + room}`;
}
