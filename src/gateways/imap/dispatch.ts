// Carries out one command: finds its row, checks the state, parses the arguments, updates the view of the selected mailbox,
// runs the command, and sends the changes and the tagged response.
import { ConnectionEnd } from '../../net/tcp/connection-end.js';
import { FramingError } from '../../net/tcp/line-framer.js';
import type { Command } from './command.js';
import { namingFullDomain } from './commands/quota.js';
import { bad, type Completion, no, type Suspension } from './completion.js';
import { completionOf, isBug } from './faults.js';
import type { ImapSession, SuspendedCommand } from './imap-session.js';
import { highestModseq, writeNewMessages } from './responses/updates.js';
import { hasUpdatingSearches, writeSearchUpdates } from './search/updating-searches.js';
import type { Selected, SessionState } from './session.js';
import type { ReceivedCommand } from './wire/command-source.js';

const UNKNOWN = bad('Unknown command');
const NO_UID_FORM = bad('This command has no form with UID');
const READ_ONLY = no('The mailbox is open for reading only', 'READ-ONLY');
const NEEDS_UID = bad('UIDONLY is enabled: name messages by UID', 'UIDREQUIRED');
const LOGIN_ENDED = no('The credential is no longer valid', 'EXPIRED');
const WRONG_STATE: Readonly<Record<SessionState, Completion>> = {
  'not-authenticated': bad('Log in first'),
  authenticated: bad('Select a mailbox first'),
  selected: bad('Not while a mailbox is selected'),
};

/** @throws ConnectionEnd, FramingError when nothing more can be read */
export async function dispatch(
  session: ImapSession,
  table: ReadonlyMap<string, Command>,
  received: ReceivedCommand,
): Promise<void> {
  if (received.kind === 'lost') return session.end(received.text, received.code);
  const began = performance.now();
  if (received.kind === 'refused') {
    await complete(session, received.tag, undefined, began, received.completion);
    return;
  }
  session.tag = received.tag;
  const row = table.get(received.name);
  let end: Completion | Suspension;
  try {
    end = row === undefined ? UNKNOWN : await carryOut(session, row, received);
  } catch (error) {
    end = ofError(error, session, row);
  }
  if ('code' in end && end.code === 'OVERQUOTA') end = await namingFullDomain(session, end);
  if ('finish' in end) {
    session.suspended = { suspension: end, tag: received.tag, row: row!, began };
    return;
  }
  const completing = complete(session, received.tag, row, began, end);
  if (completing !== undefined) await completing;
}

/** Reads the line that ends a suspended command, and completes the command. @throws ConnectionEnd, FramingError */
export async function finishSuspended(session: ImapSession, suspended: SuspendedCommand): Promise<void> {
  const { suspension, tag, row, began } = suspended;
  let end: Completion;
  try {
    end = suspension.finish(await session.readLine(suspension.mostOctets));
    await session.stopSuspended();
    await tellChanges(session, row, () => suspension.sendUpdates());
  } catch (error) {
    end = ofError(error, session, row);
    await session.stopSuspended();
  }
  await complete(session, tag, row, began, end);
}

/** @throws ConnectionEnd, FramingError */
function ofError(error: unknown, session: ImapSession, row: Command | undefined): Completion {
  if (error instanceof ConnectionEnd || error instanceof FramingError) throw error;
  session.logFailure(error, row?.name, isBug(error));
  return completionOf(error);
}

type Runnable = Extract<ReceivedCommand, { readonly isUid: boolean }>;

async function carryOut(session: ImapSession, row: Command, received: Runnable): Promise<Completion | Suspension> {
  const { isUid } = received;
  if (isUid && row.hasUidForm !== true) return NO_UID_FORM;
  if (!row.states.includes(session.state)) return wrongState(session, row);
  const args = received.kind === 'stream' ? received.stream : argumentsOf(session, row, received);
  const isLoginValid = session.isLoggedIn ? session.isLoginValid() : true;
  if (isLoginValid !== true && !(await isLoginValid)) {
    session.end('The credential is no longer valid', 'EXPIRED');
    return LOGIN_ENDED;
  }
  const { selected } = session;
  if (selected !== undefined) {
    if (row.needsWrite === true && selected.isReadOnly) return READ_ONLY;
    if (!isUid && namesBySequence(row) && session.enabled.has('UIDONLY')) return NEEDS_UID;
    if (needsMailbox(row) && selected.view.mirror.isStale) await selected.view.mirror.sync();
    if (isUid) writeNewMessages(session);
  }
  const running = row.run(session, args, isUid);
  const end = running instanceof Promise ? await running : running;
  if ('finish' in end) return end;
  // What a mailbox holds has just been told, or there is none any more.
  if (session.selected !== selected) return end;
  const sentBefore = selected?.view.sentModseq;
  const mayExpunge = row.holdsExpunge?.(args, isUid) !== true;
  const telling = tellChanges(session, row, () => session.sendUpdates(mayExpunge));
  if (telling !== undefined) await telling;
  const isSent = row.removes === true && session.enabled.has('CONDSTORE') && selected?.view.sentModseq !== sentBefore;
  return isSent && end.status === 'OK' ? { code: highestModseq(selected!.view), ...end } : end;
}

function argumentsOf(session: ImapSession, row: Command, { reader, isUid }: Runnable & { kind: 'command' }): unknown {
  const args = row.parse(reader, session, isUid);
  reader.end();
  return args;
}

/** Sends the changes of the selected mailbox before the tagged response; `send` writes those that are known. */
function tellChanges(session: ImapSession, row: Command, send: () => unknown): Promise<void> | undefined {
  const { selected } = session;
  if (selected === undefined || session.isOver) return undefined;
  const { mirror } = selected.view;
  const readsBack = row.readsBack === true || (row.needsWrite === true && row.hasSynced !== true);
  if (!mirror.isStale && !(readsBack && !mirror.isCurrent)) return sendChanges(session, selected, send);
  // The command is committed, so it succeeds; the changes are sent with the next command.
  const failed = (err: unknown): void => {
    session.log.warn({ err, command: row.name, ...session.about }, 'changes of a mailbox could not be read');
  };
  return mirror
    .sync()
    .catch(failed)
    .then(() => sendChanges(session, selected, send));
}

/** Returns a promise when the client, or a search that is kept up to date, must be awaited. */
function sendChanges(session: ImapSession, selected: Selected, send: () => unknown): Promise<void> | undefined {
  if (session.selected !== selected) return undefined;
  if (selected.view.mirror.isGone) {
    session.end('The selected mailbox was deleted');
    return undefined;
  }
  send();
  const isDone =
    session.output.ready === undefined && !selected.view.hasPendingFlags && !hasUpdatingSearches(selected.view);
  return isDone ? undefined : sendMore(session, selected, send);
}

async function sendMore(session: ImapSession, selected: Selected, send: () => unknown): Promise<void> {
  const { output } = session;
  if (output.ready !== undefined) await output.ready;
  while (session.selected === selected && selected.view.hasPendingFlags) {
    send();
    if (output.ready !== undefined) await output.ready;
  }
  if (hasUpdatingSearches(selected.view)) await writeSearchUpdates(session);
}

function complete(
  session: ImapSession,
  tag: string,
  row: Command | undefined,
  began: number,
  { status, code, text, sendWith }: Completion,
): Promise<void> | undefined {
  if (status === 'OK') session.errors = 0;
  else if (status === 'BAD' || !session.isLoggedIn) {
    session.errors++;
    if (session.errors >= session.context.limits.errors) session.end('Too many errors', 'LIMIT');
  }
  const line = `${tag} ${status} ${code === undefined ? '' : `[${code}] `}${text}`;
  const completed = () => session.context.meter.completed(row?.name ?? 'unknown', status, performance.now() - began);
  if (sendWith !== undefined) {
    session.output.flush();
    return sendWith(`${line}\r\n`).then(completed);
  }
  session.output.line(line);
  completed();
  return undefined;
}

function wrongState({ state }: ImapSession, row: Command): Completion {
  if (state !== 'not-authenticated' && row.states.every((other) => other === 'not-authenticated')) {
    return bad('Already logged in');
  }
  return WRONG_STATE[state];
}

function needsMailbox({ states }: Command): boolean {
  return !states.includes('authenticated');
}

function namesBySequence({ name, hasUidForm }: Command): boolean {
  return hasUidForm === true && name !== 'EXPUNGE';
}
