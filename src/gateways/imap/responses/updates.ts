// Untagged responses about the selected mailbox that no command requested: changes of other sessions, deliveries and this session
// (RFC 9051 §7.5). Expunges come first, then the new size, then flags, so each sequence number is valid when it is sent.
import { FLAG_NAMES } from '../../../mail-format/flags.js';
import { removalsOf } from '../search/updating-searches.js';
import type { Session } from '../session.js';
import type { FolderMirror } from '../view/folder-mirror.js';
import type { FolderView, ViewUpdates } from '../view/folder-view.js';
import { uidSet } from '../wire/format.js';
import { flagList } from './flags.js';

/** The flags of RFC 9051 §2.3.2, then the others that have a bit. */
const SYSTEM_FLAGS = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'];
const FLAGS = [...SYSTEM_FLAGS, ...FLAG_NAMES.map(([, name]) => name).filter((name) => !SYSTEM_FLAGS.includes(name))];

/** Tells the client what changed in the selected mailbox, and returns it; without `mayExpunge`, expunges wait. */
export function writeUpdates(session: Session, mayExpunge: boolean): ViewUpdates {
  const { selected, output, enabled, notifier } = session;
  if (selected === undefined) return { expunged: [], exists: undefined, flagged: [] };
  const { view } = selected;
  const maySendFlags = notifier?.isTelling !== true || notifier.sendsFlags;
  const updates = view.takeUpdates(mayExpunge, maySendFlags);
  const { expunged, exists, flagged } = updates;
  if (expunged.length > 0) {
    output.write(removalsOf(view, expunged));
    output.write(expungeResponses(expunged, usesVanished(session)));
  }
  if (exists !== undefined) output.write(sizeResponses(exists, enabled.has('IMAP4REV2')));
  if (flagged.length > 0) writeNewKeywords(session);
  for (const position of flagged) output.write(flagChange(session, view, position));
  return updates;
}

/** Called before a command that names messages by UID: the client may know a new UID before it was told the number. */
export function writeNewMessages({ selected, output, enabled }: Session): void {
  const { exists } = selected!.view.takeUpdates(false, false);
  if (exists !== undefined) output.write(sizeResponses(exists, enabled.has('IMAP4REV2')));
}

/** Sends FLAGS when messages have keywords that are new to the client, before a FETCH response contains one of them. */
export function writeNewKeywords({ selected, output }: Session): void {
  if (selected?.view.takeNewKeywords() === true)
    output.write(flagsResponses(selected.view.mirror, selected.isReadOnly));
}

/** Tells whether expunges are reported by UID (RFC 7162 §3.2.10, RFC 9586 §3.3). */
const usesVanished = ({ enabled }: Pick<Session, 'enabled'>): boolean =>
  enabled.has('QRESYNC') || enabled.has('UIDONLY');

/** Begins with the last message, so that no other number changes before its message is sent. */
function expungeResponses(expunged: ViewUpdates['expunged'], isByUid: boolean): string {
  if (isByUid) return `* VANISHED ${uidSet(expunged.map(({ uid }) => uid))}\r\n`;
  let text = '';
  for (let i = expunged.length - 1; i >= 0; i--) text += `* ${expunged[i]!.seq} EXPUNGE\r\n`;
  return text;
}

/** No message is ever recent, which RFC 3501 allows; its clients expect the RECENT response. */
export const sizeResponses = (count: number, isRev2: boolean): string =>
  isRev2 ? `* ${count} EXISTS\r\n` : `* ${count} EXISTS\r\n* 0 RECENT\r\n`;

/** Lists the flags that messages may have, and those that the client may set permanently. */
export function flagsResponses({ keywords }: FolderMirror, isReadOnly: boolean): string {
  const flags = [...FLAGS, ...keywords].join(' ');
  const permanent = isReadOnly ? '' : `${flags} \\*`;
  return `* FLAGS (${flags})\r\n* OK [PERMANENTFLAGS (${permanent})] Flags that are kept\r\n`;
}

/** The response code. The client has been told of all changes up to this modseq, and relies on it when it reconnects. */
export const highestModseq = ({ sentModseq }: FolderView): string => `HIGHESTMODSEQ ${Math.max(1, sentModseq)}`;

/** Writes a FETCH response with the present flags of a message. */
export function flagChange({ enabled }: Pick<Session, 'enabled'>, view: FolderView, position: number): string {
  const { mirror } = view;
  const index = view.indexAt(position);
  if (index === -1) return '';
  const uid = view.uidAt(position);
  const modseq = enabled.has('CONDSTORE') || enabled.has('QRESYNC') ? ` MODSEQ (${mirror.modseqAt(index)})` : '';
  const items = `FLAGS ${flagList(mirror, index)}${modseq}`;
  if (enabled.has('UIDONLY')) return `* ${uid} UIDFETCH (${items})\r\n`;
  return `* ${position + 1} FETCH (UID ${uid} ${items})\r\n`;
}
