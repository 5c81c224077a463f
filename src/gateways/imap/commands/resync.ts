// SELECT with QRESYNC (RFC 7162 §3.2.5): reports what a client must know to update its copy of the mailbox.
import { type Mailboxes, type MailboxProtocol, unpackUids } from '../../../actors/mailbox/protocol.js';
import type { Outcome } from '../../../actors/runtime/protocol.js';
import type { ResyncArguments } from '../grammar/select.js';
import type { SequenceRange } from '../grammar/sequence-set.js';
import { flagChange } from '../responses/updates.js';
import type { Session } from '../session.js';
import type { FolderView } from '../view/folder-view.js';
import { uidSet } from '../wire/format.js';

type Mailbox = Pick<ReturnType<Mailboxes['of']>, 'ask'>;
type Changes = Outcome<MailboxProtocol, 'folderChanges'>;
type Range = readonly [first: number, last: number];

const NONE = '';

/** Asks what changed in a folder. Resolves with undefined when that fails, or the folder is not known: who still needs it asks again. */
export async function changesSince(
  mailbox: Mailbox,
  folderId: string | undefined,
  since: number,
): Promise<Changes | undefined> {
  if (folderId === undefined) return undefined;
  return mailbox.ask('folderChanges', { folderId, since }).catch(() => undefined);
}

/**
 * Returns UIDs that the client may know and that are no longer in the mailbox, as a set. It is empty when there are none, and
 * undefined when the client's copy is of another mailbox. `changes`: an answer since the client's modseq, maybe from before the view.
 * @throws ActorFault
 */
export async function vanishedSince(
  mailbox: Mailbox,
  view: FolderView,
  qresync: ResyncArguments | undefined,
  changes?: Promise<Changes | undefined>,
): Promise<string | undefined> {
  const { mirror } = view;
  if (qresync === undefined || qresync.uidValidity !== mirror.uidValidity) return undefined;
  const { modseq, knownUids } = qresync;
  if (modseq >= mirror.modseq) return NONE;
  const known = knownRanges(view, knownUids);
  const fromUid = lastMatch(view, qresync.seqMatch) + 1;
  // The list may contain more than the view lacks, but not less.
  const shown = mirror.modseq;
  const early = (await changes)?.reply;
  const isEnough = early !== undefined && early.folderId === mirror.folderId && early.modseq >= shown;
  const expunged = await expungedSince(mailbox, mirror.folderId, modseq, isEnough ? early : undefined);
  if (expunged !== undefined) {
    return uidSet(within(expunged, known).filter((uid) => uid >= fromUid && view.positionOf(uid) === -1));
  }
  return uidSet(missing(view, known, fromUid));
}

/** `vanished` is the result of `vanishedSince`. */
export async function writeResync(
  session: Session,
  view: FolderView,
  { modseq, knownUids }: ResyncArguments,
  vanished: string,
): Promise<void> {
  const { output } = session;
  if (vanished !== NONE) output.write(`* VANISHED (EARLIER) ${vanished}\r\n`);
  const known = knownRanges(view, knownUids);
  const { count } = view;
  let next = 0;
  for (let position = 0; position < count; position++) {
    const uid = view.uidAt(position);
    while (next < known.length && known[next]![1] < uid) next++;
    if (next === known.length) return;
    if (known[next]![0] > uid) continue;
    const index = view.indexAt(position);
    if (index === -1 || view.mirror.modseqAt(index) <= modseq) continue;
    output.write(flagChange(session, view, position));
    if (output.ready) await output.ready;
  }
}

/**
 * UIDs that left the folder after the modseq, ascending; undefined when the owner does not know all of them. `first`: the first answer, if
 * it is there.
 */
async function expungedSince(
  mailbox: Mailbox,
  folderId: string,
  since: number,
  first: Changes['reply'],
): Promise<number[] | undefined> {
  const expunged: number[] = [];
  let reply = first;
  for (let fromUid: number | null = 1; fromUid !== null; reply = undefined) {
    reply ??= (await mailbox.ask('folderChanges', { folderId, since, fromUid })).reply;
    if (reply === undefined || reply.isWhole) return undefined;
    for (const uid of unpackUids(reply.expunged)) expunged.push(uid);
    fromUid = reply.nextUid;
  }
  return expunged;
}

/** Returns the UIDs that the client may know, in ascending disjoint ranges. */
function knownRanges({ mirror }: FolderView, ranges: ResyncArguments['knownUids']): readonly Range[] {
  const highest = mirror.uidNext - 1;
  if (ranges === undefined) return [[1, highest]];
  const known: [number, number][] = [];
  const sorted = ranges
    .map(([a, b]): Range => [Math.min(a, b), Math.min(Math.max(a, b), highest)])
    .filter(([first, last]) => first <= last)
    .sort(([a], [b]) => a - b);
  for (const [first, last] of sorted) {
    const before = known.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else known.push([first, last]);
  }
  return known;
}

function within(uids: readonly number[], ranges: readonly Range[]): number[] {
  let next = 0;
  return uids.filter((uid) => {
    while (next < ranges.length && ranges[next]![1] < uid) next++;
    return next < ranges.length && ranges[next]![0] <= uid;
  });
}

/** Returns the ranges of UIDs from `fromUid` on that no message has. */
function missing(view: FolderView, ranges: readonly Range[], fromUid: number): Range[] {
  const gaps: Range[] = [];
  let position = 0;
  for (const [first, last] of ranges) {
    let from = Math.max(first, fromUid);
    while (position < view.count && view.uidAt(position) < from) position++;
    for (; position < view.count && view.uidAt(position) <= last; position++) {
      const uid = view.uidAt(position);
      if (uid > from) gaps.push([from, uid - 1]);
      from = uid + 1;
    }
    if (from <= last) gaps.push([from, last]);
  }
  return gaps;
}

/**
 * Returns the highest UID that still has the sequence number by which the client knows the message: nothing up to it is missing.
 * Returns 0 when there is none.
 */
function lastMatch(view: FolderView, seqMatch: ResyncArguments['seqMatch']): number {
  if (seqMatch === undefined) return 0;
  let matched = 0;
  let before = 0;
  const uids = numbersOf(seqMatch.uids);
  for (const seq of numbersOf(seqMatch.sequenceNumbers)) {
    const uid = uids.next().value;
    // The loop stops at numbers that do not rise, so a long set costs no more than the mailbox.
    if (uid === undefined || seq <= before || seq > view.count || view.uidAt(seq - 1) !== uid) return matched;
    before = seq;
    matched = uid;
  }
  return matched;
}

function* numbersOf(ranges: readonly SequenceRange[]): Generator<number, undefined> {
  for (const [a, b] of ranges) for (let n = Math.min(a, b); n <= Math.max(a, b); n++) yield n;
}
