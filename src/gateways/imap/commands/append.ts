// Messages that the client sends: APPEND (RFC 9051 §6.3.12, RFC 3502, RFC 4469, RFC 3516, RFC 6855) and REPLACE (RFC 8508). They
// are read as they arrive. A command is refused before its message is sent, if possible. All messages of a command are committed
// together before it completes; that commit also stores a few small messages.
import type { MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Outcome } from '../../../actors/runtime/protocol.js';
import { flagBit, isDeletedFlag, isKeyword } from '../../../mail-format/flags.js';
import { isSmall } from '../../../store/blobs.js';
import type { MessageAsk, MessageHandle } from '../../../store/inline/inline-messages.js';
import { EMPTY, IncomingMessage } from '../append/incoming-message.js';
import { linkedOctets } from '../append/linked-octets.js';
import { MessageBatch } from '../append/message-batch.js';
import { type Command, streamCommand } from '../command.js';
import { bad, type Completion, no, ok, Refused } from '../completion.js';
import { refusalCompletion } from '../faults.js';
import { catenatePart, type MessageOptions, messageOptions } from '../grammar/append.js';
import { messageNumber } from '../grammar/sequence-set.js';
import { targetReference } from '../mailboxes/account-folders.js';
import { systemReference } from '../mailboxes/mailbox-tree.js';
import { rangesOf } from '../mailboxes/uid-ranges.js';
import { reportPlaced } from '../notifications/own-changes.js';
import { takesUtf8 } from '../responses/list.js';
import type { Session } from '../session.js';
import type { CommandReader } from '../wire/command-reader.js';
import type { CommandStream } from '../wire/command-stream.js';
import { uidSet } from '../wire/format.js';

/** In ms. The messages may be stored already: giving up early would make the client send them again. */
const DEADLINE_MS = 30_000;
/** Only a server may set it (RFC 3501 §2.3.2), but programs that copy messages from another server send it. */
const RECENT = '\\recent';

interface Target {
  readonly mailbox: string;
  /** The folder that was found before the messages were read; undefined when it is not yet looked up. */
  readonly folderId?: string | undefined;
  readonly replaces?: { readonly folderId: string; readonly uid: number };
}

export const appendCommands: readonly Command[] = [
  streamCommand({ name: 'APPEND', states: ['authenticated', 'selected'], run: append }),
  streamCommand({
    name: 'REPLACE',
    states: ['selected'],
    hasUidForm: true,
    needsWrite: true,
    removes: true,
    run: replace,
  }),
];

async function append(session: Session, stream: CommandStream): Promise<Completion> {
  let reader = await stream.text();
  const mailbox = reader.mailbox();
  let folderId = comesAnyway(stream) ? systemReference(mailbox) : await targetReference(session, mailbox);
  return batched(session, async (batch) => {
    for (;;) {
      reader = await readMessage(session, stream, reader, batch);
      if (isOver(stream, reader)) return commit(session, { mailbox, folderId }, batch);
      folderId ??= await targetReference(session, mailbox);
      if (batch.isFull) return no('Too many messages for one command', 'LIMIT');
    }
  });
}

async function replace(session: Session, stream: CommandStream, isUid: boolean): Promise<Completion> {
  const reader = await stream.text();
  const number = messageNumber(reader);
  reader.space();
  const mailbox = reader.mailbox();
  const { selected, savedSearch } = session;
  const [position] = selected!.view.resolve([[number, number]], isUid, savedSearch);
  if (position === undefined) return no('There is no such message', 'NONEXISTENT');
  if (selected!.view.indexAt(position) < 0) return no('The message is gone', 'EXPUNGEISSUED');
  const replaces = { folderId: selected!.folderId, uid: selected!.view.uidAt(position) };
  const folderId = await targetReference(session, mailbox);
  return batched(session, async (batch) => {
    const rest = await readMessage(session, stream, reader, batch);
    if (!isOver(stream, rest)) return bad('REPLACE takes one message');
    return commit(session, { mailbox, folderId, replaces }, batch);
  });
}

/** When the command completes, its messages are no longer being stored. */
async function batched(session: Session, run: (batch: MessageBatch) => Promise<Completion>): Promise<Completion> {
  const { context, accountId } = session;
  const batch = new MessageBatch(context.blobs, context.memory.messages, accountId);
  try {
    return await run(batch);
  } finally {
    await batch.settled();
  }
}

/** A small message that the client sends without being asked: the commit that stores it also looks up the mailbox. */
const comesAnyway = ({ next }: CommandStream): boolean => next !== undefined && !next.isSynchronizing && isSmall(next);

const isOver = ({ next }: CommandStream, rest: CommandReader): boolean => rest.isAtEnd && next === undefined;

/** Reads a message with its options; returns the text after it. */
async function readMessage(
  session: Session,
  stream: CommandStream,
  reader: CommandReader,
  batch: MessageBatch,
): Promise<CommandReader> {
  const options = messageOptions(reader);
  const { receivedAt = Date.now(), data } = options;
  const flags = flagsOf(options);
  if (data === 'utf8') refuseUnlessUtf8(session, stream);
  const incoming = new IncomingMessage(session.context, session.accountId);
  try {
    const rest =
      data === 'catenate'
        ? await readParts(session, stream, reader, incoming)
        : await readLiteral(stream, incoming, { mayBeEmpty: false });
    if (data === 'utf8') rest.expect(')');
    const content = await incoming.finish();
    session.context.meter.appended(content.size);
    await batch.add(content, { receivedAt, flags });
    return rest;
  } catch (error) {
    incoming.discard();
    throw error;
  }
}

/** Refuses flags that cannot be stored, before the message is sent. */
function flagsOf({ flags }: MessageOptions): string[] {
  const kept = flags.filter((name) => name.toLowerCase() !== RECENT);
  const unfit = kept.find((name) => !isDeletedFlag(name) && flagBit(name) === 0 && !isKeyword(name));
  if (unfit !== undefined) throw new Refused(refusalCompletion('noSuchFlag'));
  return kept;
}

function refuseUnlessUtf8(session: Session, { next }: CommandStream): void {
  if (!takesUtf8(session)) throw new Refused(bad('UTF8 is not enabled'));
  if (next?.isBinary !== true) throw new Refused(bad('UTF8 takes a literal of the form ~{n}'));
}

/** Returns the text after the literal. */
async function readLiteral(stream: CommandStream, incoming: IncomingMessage, { mayBeEmpty }: { mayBeEmpty: boolean }) {
  const size = stream.next?.size ?? 0;
  if (stream.next !== undefined && size === 0 && !mayBeEmpty) throw new Refused(EMPTY);
  incoming.expect(size);
  await incoming.write(stream.literal().chunks);
  return stream.text();
}

/** Returns the text after the parts of CATENATE. */
async function readParts(session: Session, stream: CommandStream, first: CommandReader, incoming: IncomingMessage) {
  let reader = first;
  for (let isFirst = true; ; isFirst = false) {
    const part = catenatePart(reader, isFirst);
    if (part === undefined) return reader;
    if (part.type !== 'url') {
      if (part.type === 'utf8') refuseUnlessUtf8(session, stream);
      reader = await readLiteral(stream, incoming, { mayBeEmpty: true });
      if (part.type === 'utf8') reader.expect(')');
      continue;
    }
    const { size, chunks } = await linkedOctets(session, part.url);
    incoming.expect(size);
    await incoming.write(chunks);
  }
}

async function commit(session: Session, target: Target, batch: MessageBatch): Promise<Completion> {
  const { output } = session;
  const outcome = await appendMessages(session, target, batch);
  if (outcome.reply === undefined) return refusalCompletion(outcome.refusal, 'target');
  const { uidValidity, emails, folderModseqs } = outcome.reply;
  const uids = emails.map(({ uid }) => uid);
  reportPlaced(session, folderModseqs, rangesOf(uids));
  const code = `APPENDUID ${uidValidity} ${uidSet(uids)}`;
  if (target.replaces === undefined) return ok('APPEND completed', code);
  // RFC 8508 §3.4: this response must precede the EXPUNGE response.
  output.line(`* OK [${code}] The replacement is stored`);
  return ok('REPLACE completed');
}

type Appended = Outcome<MailboxProtocol, 'append'>;

/** @throws Refused when there is no such mailbox */
async function appendMessages(
  session: Session,
  { mailbox, replaces, ...target }: Target,
  batch: MessageBatch,
): Promise<Appended> {
  const { context, accountId } = session;
  let { folderId } = target;
  const ask = async (handles: readonly MessageHandle[], how: MessageAsk): Promise<Appended> => {
    const messages = handles.map((handle, i) => {
      const { receivedAt, flags } = batch.messages[i]!;
      return { ...handle, receivedAt, flags };
    });
    const folder = folderId === undefined ? { path: mailbox } : { folderId };
    const payload = { ...folder, messages, ...(replaces && { replaces }) };
    return context.mailboxes.of(accountId).ask('append', payload, { deadlineMs: DEADLINE_MS, ...how });
  };
  const append = () =>
    context.inlineMessages.commit(accountId, batch.unstored, ask, async () => {
      folderId ??= await targetReference(session, mailbox);
      await batch.stored();
      return batch.messages;
    });
  const outcome = await append();
  if (folderId !== undefined || outcome.refusal !== 'noSuchFolder') return outcome;
  // The look-up tells the client why there is none, unless there is one by now.
  folderId = await targetReference(session, mailbox);
  return append();
}
