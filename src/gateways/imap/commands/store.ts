// STORE and UID STORE (RFC 9051 §6.4.6, RFC 7162 §3.1.3): the owner of the mailbox stores the flags of at most 10,000 messages
// at a time. The responses show the flags that the mirror has afterwards.
import { isDeletedFlag } from '../../../mail-format/flags.js';
import { command } from '../command.js';
import { type Completion, no, ok, Refused } from '../completion.js';
import { refusalCompletion } from '../faults.js';
import { type StoreArguments, storeArguments } from '../grammar/store.js';
import { MOST_MESSAGES, MOST_OF_COMMAND, rangesOf } from '../mailboxes/uid-ranges.js';
import { flagList } from '../responses/flags.js';
import { ResponseWriter } from '../responses/response-writer.js';
import { writeNewKeywords } from '../responses/updates.js';
import type { Session } from '../session.js';
import type { FolderMirror } from '../view/folder-mirror.js';
import type { FolderView } from '../view/folder-view.js';
import { uidSet } from '../wire/format.js';

export const storeCommands = [
  command<StoreArguments>({
    name: 'STORE',
    states: ['selected'],
    hasUidForm: true,
    holdsExpunge: (_, isUid) => !isUid,
    needsWrite: true,
    hasSynced: true,
    parse: storeArguments,
    run: store,
  }),
];

async function store(session: Session, args: StoreArguments, isUid: boolean): Promise<Completion> {
  const { view } = session.selected!;
  if (args.unchangedSince !== undefined) session.enable('CONDSTORE');
  const named = view.resolve(args.set, isUid, session.savedSearch);
  const positions = view.presentAt(named);
  const uids = view.uidsAt(positions);
  if (args.isSilent && session.notifier !== undefined) {
    const { sentModseq, sentUid } = session.notifier;
    view.markFlagsUnknown(view.uidsAt(view.changedAfter(sentModseq, positions)));
    view.markFlagsUnknown(view.uidsAt(positions.filter((position) => view.uidAt(position) > sentUid)));
  }
  const settle = args.isSilent ? view.expectFlags(uids, args) : undefined;
  const { modified, isTaken, aloneUntil } = await storeFlags(session, uids, args);
  if (!isTaken) await view.mirror.sync();
  const stored = modified.size === 0 ? positions : positions.filter((position) => !modified.has(view.uidAt(position)));
  // Flags that change while the responses are written are sent after them.
  if (settle === undefined) view.markFlagsSent(modified.size === 0 ? uids : view.uidsAt(stored));
  else settle(aloneUntil === view.mirror.modseq);
  if (!args.isSilent || session.enabled.has('CONDSTORE')) await answer(session, stored, args, isUid);
  // UIDs that are gone are skipped; sequence numbers of such messages are not, unless no response is expected (RFC 2180 §4.2).
  const isComplete =
    isUid || args.isSilent || (positions.length === named.length && view.presentAt(stored).length === stored.length);
  return completionOf(view, modified, isUid, isComplete);
}

interface StoredFlags {
  /** UIDs of messages that were not changed because they had changed after `unchangedSince`. */
  readonly modified: ReadonlySet<number>;
  /** Whether the mirror has the change. */
  readonly isTaken: boolean;
  /** The modseq up to which nothing else has changed the folder since the command began; undefined when that is not known. */
  readonly aloneUntil: number | undefined;
}

async function storeFlags(session: Session, uids: Uint32Array, args: StoreArguments): Promise<StoredFlags> {
  const { mode, flags, unchangedSince } = args;
  const mailbox = session.context.mailboxes.of(session.accountId);
  const { folderId, view } = session.selected!;
  const { mirror } = view;
  const modified = new Set<number>();
  let isTaken = true;
  let aloneUntil: number | undefined = mirror.modseq;
  const most = areFlagsOfEmails(args) ? MOST_MESSAGES : MOST_OF_COMMAND;
  for (let at = 0; at < uids.length; at += most) {
    const part = uids.subarray(at, at + most);
    const { reply, refusal } = await mailbox.ask('storeFlags', {
      selection: { folderId, uids: rangesOf(part) },
      mode,
      flags: [...flags],
      ...(unchangedSince !== undefined && { unchangedSince }),
    });
    if (reply === undefined) throw new Refused(refusalCompletion(refusal));
    for (const [first, last] of reply.modified) for (let uid = first; uid <= last; uid++) modified.add(uid);
    const stored = reply.modified.length === 0 ? part : part.filter((uid) => !modified.has(uid));
    const { folderModseqs, keywords } = reply;
    aloneUntil = folderModseqs?.before === aloneUntil ? folderModseqs?.after : undefined;
    isTaken = mirror.takeFlags(stored, { mode, flags, keywords }, folderModseqs) && isTaken;
  }
  return { modified, isTaken, aloneUntil: isTaken ? aloneUntil : undefined };
}

/** Changes of these flags are planned for many messages at once (decision 0046). */
const areFlagsOfEmails = ({ mode, flags }: StoreArguments): boolean => mode !== 'replace' && !flags.some(isDeletedFlag);

/** Writes FETCH responses: flags unless the client knows them, and modseqs once the client has asked for them (RFC 7162 §3.1.3). */
async function answer(
  session: Session,
  positions: Uint32Array,
  { isSilent }: StoreArguments,
  isUid: boolean,
): Promise<void> {
  const { view } = session.selected!;
  const { mirror } = view;
  if (!isSilent) writeNewKeywords(session);
  const writer = new ResponseWriter(session.output, session.accountId);
  const isUidOnly = session.enabled.has('UIDONLY');
  const hasUid = !isUidOnly && (isUid || session.enabled.has('QRESYNC'));
  const hasModseq = session.enabled.has('CONDSTORE');
  const begin = hasUid ? '' : isUidOnly ? ' UIDFETCH (' : ' FETCH (';
  const textAt = sharedText(mirror, begin, { hasFlags: !isSilent, hasModseq });
  for (const position of positions) {
    const index = view.indexAt(position);
    if (index < 0) continue;
    const number = isUidOnly ? view.uidAt(position) : position + 1;
    const text = textAt(index);
    writer.add(hasUid ? `* ${number} FETCH (UID ${view.uidAt(position)} ${text}` : `* ${number}${text}`);
    if (writer.isFull) await writer.pause();
  }
  writer.flush();
}

/** Returns the text of a response from `begin` on. Adjacent messages mostly have the same flags and modseq, and share the text. */
function sharedText(
  mirror: FolderMirror,
  begin: string,
  { hasFlags, hasModseq }: { readonly hasFlags: boolean; readonly hasModseq: boolean },
): (index: number) => string {
  let bits: number | undefined;
  let keywords: readonly string[] | undefined;
  let modseq: number | undefined;
  let text = '';
  return (index) => {
    const isShared =
      mirror.bitsAt(index) === bits &&
      mirror.keywordsAt(index) === keywords &&
      (!hasModseq || mirror.modseqAt(index) === modseq);
    if (isShared) return text;
    bits = mirror.bitsAt(index);
    keywords = mirror.keywordsAt(index);
    modseq = mirror.modseqAt(index);
    const flags = hasFlags ? `FLAGS ${flagList(mirror, index)}` : '';
    const changed = hasModseq ? `MODSEQ (${modseq})` : '';
    text = `${begin}${flags}${hasFlags && hasModseq ? ' ' : ''}${changed})\r\n`;
    return text;
  };
}

/** RFC 7162 §3.1.3: MODIFIED names messages as the command did. */
function completionOf(
  view: FolderView,
  modified: ReadonlySet<number>,
  isUid: boolean,
  isComplete: boolean,
): Completion {
  const numbers = [...modified].map((uid) => (isUid ? uid : view.positionOf(uid) + 1)).sort((a, b) => a - b);
  const code = numbers.length === 0 ? undefined : `MODIFIED ${uidSet(numbers)}`;
  if (!isComplete) return no('Some of the messages no longer exist', code ?? 'EXPUNGEISSUED');
  return ok(code === undefined ? 'STORE completed' : 'Some of the messages were changed before', code);
}
