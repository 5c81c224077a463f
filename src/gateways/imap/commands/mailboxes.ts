// Creates, deletes, renames and subscribes mailboxes (RFC 9051 §6.3.4 to §6.3.8, RFC 6154, RFC 8474). A mailbox that a client creates
// is a label. Levels above a mailbox need not exist, and deleting a mailbox keeps the mailboxes below it.
import { isBelow, isPathWithinBounds, isSystemName } from '../../../mail-format/folder-name.js';
import { type Command, command } from '../command.js';
import { type Completion, no, ok } from '../completion.js';
import { refusalCompletion } from '../faults.js';
import { type CreateArguments, createArguments, type RenameArguments, renameArguments } from '../grammar/mailboxes.js';
import { isFit, mailboxTree, noSuchMailbox } from '../mailboxes/account-folders.js';
import { SEPARATOR } from '../mailboxes/mailbox-tree.js';
import { listResponse, takesUtf8 } from '../responses/list.js';
import type { Session, SessionState } from '../session.js';
import type { CommandReader } from '../wire/command-reader.js';

const AFTER_LOGIN: readonly SessionState[] = ['authenticated', 'selected'];

const mailbox = (reader: CommandReader): string => reader.mailbox();

export const mailboxCommands: readonly Command[] = [
  command<CreateArguments>({ name: 'CREATE', states: AFTER_LOGIN, parse: createArguments, run: create }),
  command<string>({ name: 'DELETE', states: AFTER_LOGIN, parse: mailbox, run: remove }),
  command<RenameArguments>({ name: 'RENAME', states: AFTER_LOGIN, parse: renameArguments, run: rename }),
  command<string>({
    name: 'SUBSCRIBE',
    states: AFTER_LOGIN,
    parse: mailbox,
    run: (session, name) => subscribe(session, name, true),
  }),
  command<string>({
    name: 'UNSUBSCRIBE',
    states: AFTER_LOGIN,
    parse: mailbox,
    run: (session, name) => subscribe(session, name, false),
  }),
];

async function create(session: Session, { mailbox: named, uses }: CreateArguments): Promise<Completion> {
  if (uses.length > 0) return no('Every special use has its mailbox already, and no other can be given', 'USEATTR');
  const refusal = unfit(withoutEnd(named.name));
  if (refusal !== undefined) return refusal;
  const name = (await mailboxTree(session)).shownBelow(withoutEnd(named.name));
  const { context, accountId } = session;
  const outcome = await context.mailboxes.of(accountId).ask('createFolder', { name, role: 'label' });
  if (outcome.reply === undefined) return refusalCompletion(outcome.refusal);
  session.notifier?.caused({ type: 'created', folderId: outcome.reply.id, path: outcome.reply.path });
  reportSpelling(session, withoutEnd(named.written), name);
  return ok('CREATE completed', `MAILBOXID (${outcome.reply.id})`);
}

async function remove(session: Session, name: string): Promise<Completion> {
  const found = (await mailboxTree(session)).find(name);
  if (found === undefined) return noSuchMailbox();
  const { folder } = found;
  if (folder === undefined) return no('There is no such mailbox, but there are mailboxes below it', 'HASCHILDREN');
  const { context, accountId, selected, output } = session;
  const payload = { folderId: folder.id, withInferiors: false, keepsSubscription: true };
  const mailbox = context.mailboxes.of(accountId);
  let outcome = await mailbox.ask('deleteFolder', payload);
  while (outcome.reply?.isComplete === false) outcome = await mailbox.ask('deleteFolder', payload);
  if (outcome.refusal !== undefined) return refusalCompletion(outcome.refusal);
  session.notifier?.caused({ type: 'deleted', folderId: folder.id });
  if (selected?.folderId === folder.id) {
    session.select(undefined);
    output.line('* OK [CLOSED] The selected mailbox is deleted');
  }
  return ok('DELETE completed');
}

async function rename(session: Session, { from, to: named }: RenameArguments): Promise<Completion> {
  const refusal = unfit(withoutEnd(named.name));
  if (refusal !== undefined) return refusal;
  const tree = await mailboxTree(session);
  const folder = tree.find(from)?.folder;
  if (folder === undefined) return noSuchMailbox();
  if (isBelow(withoutEnd(named.name), folder.path)) return no('A mailbox cannot be moved below itself', 'CANNOT');
  const to = tree.shownBelow(withoutEnd(named.name));
  // A rename may change only the case of a name, but must change something (RFC 9051 §6.3.6).
  if (to === folder.path) return refusalCompletion('nameTaken');
  const failure = folder.role === 'inbox' ? await emptyInto(session, to) : await renameTo(session, folder.id, to);
  if (failure !== undefined) return failure;
  if (folder.role !== 'inbox') session.notifier?.caused({ type: 'renamed', folderId: folder.id, path: to });
  reportSpelling(session, withoutEnd(named.written), to);
  return ok('RENAME completed');
}

async function renameTo({ context, accountId }: Session, folderId: string, path: string) {
  const payload = { folderId, name: path, parentId: null, isPath: true };
  const { refusal } = await context.mailboxes.of(accountId).ask('renameFolder', payload);
  return refusal === undefined ? undefined : refusalCompletion(refusal);
}

/** RFC 9051 §6.3.6: the inbox stays and is empty; its messages are moved to a new mailbox. */
async function emptyInto({ context, accountId }: Session, name: string) {
  const mailbox = context.mailboxes.of(accountId);
  let outcome = await mailbox.ask('renameInbox', { name });
  while (outcome.reply?.isComplete === false)
    outcome = await mailbox.ask('renameInbox', { name, folderId: outcome.reply.folderId });
  return outcome.refusal === undefined ? undefined : refusalCompletion(outcome.refusal);
}

async function subscribe(session: Session, name: string, isSubscribed: boolean): Promise<Completion> {
  const { context, accountId } = session;
  const tree = await mailboxTree(session);
  const path = withoutEnd(name);
  const folderId = tree.find(path)?.folder?.id;
  if (folderId === undefined) {
    if (isSubscribed && !tree.isSubscribed(path)) return noSuchMailbox();
    // The subscription of a deleted mailbox stays until the client unsubscribes.
    if (!isSubscribed) await context.mailboxes.of(accountId).ask('forgetSubscription', { path });
    return ok(isSubscribed ? 'SUBSCRIBE completed' : 'UNSUBSCRIBE completed');
  }
  const { refusal } = await context.mailboxes.of(accountId).ask('subscribeFolder', { folderId, isSubscribed });
  if (refusal !== undefined) return refusalCompletion(refusal);
  session.notifier?.caused({ type: 'subscribed', folderId, isSubscribed });
  return ok(isSubscribed ? 'SUBSCRIBE completed' : 'UNSUBSCRIBE completed');
}

/** A separator at the end announces mailboxes below this one (RFC 9051 §6.3.4). */
const withoutEnd = (name: string): string =>
  name.length > 1 && name.endsWith(SEPARATOR) ? name.slice(0, -SEPARATOR.length) : name;

/** Returns why no mailbox can have this name. It bounds the number of levels, because later steps cost the square of it. */
function unfit(name: string): Completion | undefined {
  if (!isPathWithinBounds(name)) return refusalCompletion('nameTooLong');
  if (!isFit(name)) {
    return no(
      'Each level of a name has 1 to 100 characters, no control character, no space at its start or end',
      'CANNOT',
    );
  }
  // Outbox is not a mailbox, but no label may have its name.
  return isSystemName(name) && name.toLowerCase() === 'outbox' ? no('The name is reserved', 'CANNOT') : undefined;
}

/**
 * Reports the actual name (RFC 9051 §6.3.4 and §6.3.6) when the client composed it differently, or spelled the levels above
 * the mailbox differently.
 */
function reportSpelling(session: Session, written: string, name: string): void {
  if (name === written || !session.enabled.has('IMAP4REV2')) return;
  session.output.write(listResponse(name, [], takesUtf8(session), { oldName: written }));
}
