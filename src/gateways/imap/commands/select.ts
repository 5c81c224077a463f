// Selects and closes a mailbox: SELECT, EXAMINE, CLOSE and UNSELECT (RFC 9051 §6.3.2, §6.3.3, §6.4.1 and §6.4.2; RFC 7162).
import { SEEN } from '../../../mail-format/flags.js';
import { type Command, command } from '../command.js';
import { bad, type Completion, ok } from '../completion.js';
import { type SelectArguments, selectArguments } from '../grammar/select.js';
import { noSuchMailbox } from '../mailboxes/account-folders.js';
import type { TreeMailbox } from '../mailboxes/mailbox-tree.js';
import { attributesOf, listResponse, takesUtf8 } from '../responses/list.js';
import { flagsResponses, highestModseq, sizeResponses } from '../responses/updates.js';
import type { Session } from '../session.js';
import { ClientView } from '../view/client-view.js';
import type { FolderMirror } from '../view/folder-mirror.js';
import type { FolderView } from '../view/folder-view.js';
import { changesSince, vanishedSince, writeResync } from './resync.js';

const NOT_ENABLED = bad('Enable QRESYNC first');

export const selectCommands: readonly Command[] = [
  command<SelectArguments>({
    name: 'SELECT',
    states: ['authenticated', 'selected'],
    parse: selectArguments,
    run: (session, args) => select(session, args, false),
  }),
  command<SelectArguments>({
    name: 'EXAMINE',
    states: ['authenticated', 'selected'],
    parse: selectArguments,
    run: (session, args) => select(session, args, true),
  }),
  command<undefined>({
    name: 'CLOSE',
    states: ['selected'],
    parse: () => undefined,
    run: close,
  }),
  command<undefined>({
    name: 'UNSELECT',
    states: ['selected'],
    parse: () => undefined,
    run(session) {
      session.select(undefined);
      return ok('UNSELECT completed');
    },
  }),
];

async function select(session: Session, args: SelectArguments, isReadOnly: boolean): Promise<Completion> {
  const { context, accountId, output, enabled } = session;
  const { mailbox, condstore, qresync } = args;
  if (qresync !== undefined && !enabled.has('QRESYNC')) return NOT_ENABLED;
  if (session.selected !== undefined) {
    session.select(undefined);
    output.line('* OK [CLOSED] The mailbox before is closed');
  }
  if (condstore || qresync !== undefined) session.enable('CONDSTORE');
  const owner = context.mailboxes.of(accountId);
  // Asked together with what `open` asks, so that a client that returns waits for one round trip.
  const changes = qresync && changesSince(owner, context.mirrors.lastAt(accountId, mailbox.name), qresync.modseq);
  const opened = await context.mirrors.open(accountId, mailbox.name);
  if (opened === undefined) return noSuchMailbox();
  const { mailbox: found, mirror } = opened;
  const view = new ClientView(mirror);
  // The state is that of the new view; changes that arrive while the owner is asked are reported later.
  const state = stateResponses(session, { found, written: mailbox.written, view, isReadOnly });
  let vanished: string | undefined;
  try {
    vanished = await vanishedSince(owner, view, qresync, changes);
  } catch (err) {
    view.close();
    throw err;
  }
  session.select({ folderId: mirror.folderId, name: mailbox.name, isReadOnly, view });
  output.write(state);
  if (qresync !== undefined && vanished !== undefined) await writeResync(session, view, qresync, vanished);
  return isReadOnly ? ok('EXAMINE completed', 'READ-ONLY') : ok('SELECT completed', 'READ-WRITE');
}

interface Opened {
  readonly found: TreeMailbox;
  /** The name as the client wrote it. */
  readonly written: string;
  readonly view: FolderView;
  readonly isReadOnly: boolean;
}

function stateResponses(session: Session, { found, written, view, isReadOnly }: Opened): string {
  const { mirror, count } = view;
  const isRev2 = session.enabled.has('IMAP4REV2');
  let text = flagsResponses(mirror, isReadOnly) + sizeResponses(count, isRev2);
  // UNSEEN is a sequence number, which neither revision 2 nor UIDONLY reports.
  const unseen = isRev2 || session.enabled.has('UIDONLY') ? 0 : firstUnseen(mirror) + 1;
  if (unseen > 0) text += `* OK [UNSEEN ${unseen}] First message that is not seen\r\n`;
  text += `* OK [UIDVALIDITY ${mirror.uidValidity}] UIDs are valid\r\n`;
  text += `* OK [UIDNEXT ${mirror.uidNext}] Next UID\r\n`;
  text += `* OK [${highestModseq(view)}] Highest modseq\r\n`;
  text += `* OK [MAILBOXID (${mirror.folderId})] Id of the mailbox\r\n`;
  if (!isRev2) return text;
  const extension = found.name === written ? {} : { oldName: written };
  return text + listResponse(found.name, attributesOf(found, true), takesUtf8(session), extension);
}

/** Returns the index of the first message without `\Seen`; -1 when there is none. */
function firstUnseen(mirror: FolderMirror): number {
  for (let index = 0; index < mirror.count; index++) if ((mirror.flagsAt(index) & SEEN) === 0) return index;
  return -1;
}

async function close(session: Session): Promise<Completion> {
  const { folderId, isReadOnly } = session.selected!;
  session.select(undefined);
  if (!isReadOnly) await expungeAll(session, folderId);
  return ok('CLOSE completed');
}

/** A folder that is gone has nothing to expunge. */
async function expungeAll({ context, accountId }: Session, folderId: string): Promise<void> {
  const mailbox = context.mailboxes.of(accountId);
  for (;;) {
    const { reply } = await mailbox.ask('expunge', { folderId });
    if (reply === undefined || reply.isComplete) return;
  }
}
