// Copies, moves and removes messages: COPY (RFC 9051 §6.4.7), MOVE (§6.4.8), EXPUNGE (§6.4.3 and §6.4.9). The view of the session
// defines which UIDs the client means. `dispatch` reports afterwards what has left the selected mailbox.
import type { MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Outcome } from '../../../actors/runtime/protocol.js';
import { type Command, command } from '../command.js';
import { type Completion, no, ok } from '../completion.js';
import { refusalCompletion } from '../faults.js';
import { type SequenceSet, sequenceSet } from '../grammar/sequence-set.js';
import { targetReference } from '../mailboxes/account-folders.js';
import { batchesOf, MOST_MESSAGES, rangesOf } from '../mailboxes/uid-ranges.js';
import { reportPlaced } from '../notifications/own-changes.js';
import type { Session } from '../session.js';
import type { CommandReader } from '../wire/command-reader.js';
import { uidSet } from '../wire/format.js';

interface TargetArguments {
  readonly set: SequenceSet;
  readonly mailbox: string;
}

interface Chosen {
  readonly uids: readonly number[];
  /** Whether some messages are gone that the client still counts. */
  readonly isIncomplete: boolean;
}

export const placementCommands: readonly Command[] = [
  command<TargetArguments>({
    name: 'COPY',
    states: ['selected'],
    hasUidForm: true,
    parse: targetArguments,
    run: copy,
  }),
  command<TargetArguments>({
    name: 'MOVE',
    states: ['selected'],
    hasUidForm: true,
    needsWrite: true,
    removes: true,
    parse: targetArguments,
    run: move,
  }),
  command<SequenceSet | undefined>({
    name: 'EXPUNGE',
    states: ['selected'],
    hasUidForm: true,
    needsWrite: true,
    removes: true,
    parse: (reader, _, isUid) => (isUid ? sequenceSet(reader) : undefined),
    run: expunge,
  }),
];

function targetArguments(reader: CommandReader): TargetArguments {
  const set = sequenceSet(reader);
  reader.space();
  return { set, mailbox: reader.mailbox() };
}

/** Copies all messages or none. */
async function copy(session: Session, { set, mailbox }: TargetArguments, isUid: boolean): Promise<Completion> {
  const { uids, isIncomplete } = chosen(session, set, isUid);
  const toFolderId = await targetReference(session, mailbox);
  if (isIncomplete) return no('Some of the messages are gone', 'EXPUNGEISSUED');
  if (uids.length > MOST_MESSAGES) return no(`A command copies ${MOST_MESSAGES} messages at most`, 'LIMIT');
  if (uids.length === 0) return ok('No messages to copy');
  const { context, accountId } = session;
  const selection = { folderId: session.selected!.folderId, uids: rangesOf(uids) };
  const outcome = await context.mailboxes.of(accountId).ask('copy', { selection, toFolderId });
  if (outcome.reply === undefined) return refusalOf(session, outcome.refusal);
  reportPlaced(session, outcome.reply.folderModseqs, outcome.reply.to);
  return ok('COPY completed', copyUid(outcome.reply));
}

/** Moves each message atomically; messages beyond the limit of one mailbox command follow in further commands. */
async function move(session: Session, { set, mailbox }: TargetArguments, isUid: boolean): Promise<Completion> {
  const { uids, isIncomplete } = chosen(session, set, isUid);
  const toFolderId = await targetReference(session, mailbox);
  if (isIncomplete) return no('Some of the messages are gone', 'EXPUNGEISSUED');
  const { context, accountId, output } = session;
  const { folderId } = session.selected!;
  for (const ranges of batchesOf(uids)) {
    const selection = { folderId, uids: ranges };
    for (let isComplete = false; !isComplete; ) {
      const { reply, refusal } = await context.mailboxes.of(accountId).ask('move', { selection, toFolderId });
      if (reply === undefined) return refusalOf(session, refusal);
      reportPlaced(session, reply.folderModseqs, reply.to);
      // RFC 6851 §4.3: this response must precede the EXPUNGE responses.
      const code = copyUid(reply);
      if (code !== undefined) output.line(`* OK [${code}] Moved`);
      ({ isComplete } = reply);
    }
  }
  return ok(uids.length === 0 ? 'No messages to move' : 'MOVE completed');
}

async function expunge(session: Session, set: SequenceSet | undefined): Promise<Completion> {
  const { context, accountId, enabled } = session;
  const { folderId, view } = session.selected!;
  const among = set === undefined ? {} : { uids: rangesOf(chosen(session, set, true).uids) };
  if (among.uids?.length === 0) return ok('No messages to expunge');
  let hasExpunged = false;
  for (;;) {
    const { reply, refusal } = await context.mailboxes.of(accountId).ask('expunge', { folderId, ...among });
    if (reply === undefined) return refusalCompletion(refusal);
    hasExpunged ||= reply.uids.length > 0;
    if (reply.isComplete) break;
  }
  if (!hasExpunged || !enabled.has('QRESYNC')) return ok('EXPUNGE completed');
  // RFC 7162 §3.2.7: everything up to this modseq is reported before the tagged response.
  await view.mirror.sync();
  return ok('EXPUNGE completed', `HIGHESTMODSEQ ${view.mirror.modseq}`);
}

function chosen(session: Session, set: SequenceSet, isUid: boolean): Chosen {
  const { view } = session.selected!;
  const positions = view.resolve(set, isUid, session.savedSearch);
  const uids: number[] = [];
  let isIncomplete = false;
  for (const position of positions) {
    if (view.indexAt(position) >= 0) uids.push(view.uidAt(position));
    else isIncomplete = true;
  }
  // UIDs that do not exist are skipped (RFC 9051 §6.4.9).
  return { uids, isIncomplete: isIncomplete && !isUid };
}

type Placed = NonNullable<Outcome<MailboxProtocol, 'copy'>['reply']>;

/** RFC 4315 §3; undefined when nothing was copied. */
function copyUid({ uidValidity, from, to }: Placed): string | undefined {
  return from.length === 0 ? undefined : `COPYUID ${uidValidity} ${uidSet(from)} ${uidSet(to)}`;
}

type PlacingRefusal = NonNullable<Outcome<MailboxProtocol, 'copy' | 'move'>['refusal']>;

/** The missing mailbox is the target, unless the selected one was deleted. */
function refusalOf(session: Session, refusal: PlacingRefusal): Completion {
  return refusalCompletion(refusal, session.selected!.view.mirror.isGone ? undefined : 'target');
}
