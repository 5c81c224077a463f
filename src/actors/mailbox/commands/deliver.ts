// Delivery: accepted mail becomes an email in the inbox, after the account's filters have judged it. `announce` does the same for an email
// that another component has stored.
import { SEEN } from '../../../mail-format/flags.js';
import type { SentOnward } from '../../../mail-format/sent-onward.js';
import type { SieveMessage } from '../../../mail-format/sieve/message.js';
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { InlineMessage } from '../../../store/inline/inline-message.js';
import type { ArrivedEnvelope, EmailSummaryRow, Placement } from '../../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import { type DeliveryPlan, type FilterResult, planDelivery, planOf, upToLast } from '../filters/delivery-plan.js';
import { unreadParts } from '../filters/filter-match.js';
import { factsOf, headerOf, NOTHING_READ, type ReadMessage } from '../filters/filter-reads.js';
import { isBounceEarly, takeBounce } from '../outbound/bounces.js';
import type { MailboxProtocol } from '../protocol.js';
import { deliveredForms, dueForms } from '../sieve/edited-forms.js';
import { activeScript, afterScript, readsBody } from '../sieve/script-plan.js';
import { takeEffects } from '../sieve/script-replies.js';
import { scriptedInline, scriptedStored } from '../sieve/scripted-mail.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { isKept, put } from './arriving.js';
import type { MailboxHandlers } from './command-handlers.js';
import { type FlagSet, keptFlags } from './flags.js';
import {
  dueForwards,
  dueIdOf,
  dueVacationReply,
  type Forwards,
  forwardsOf,
  NO_FORWARDS,
  sendOnward,
} from './forwarding.js';
import { goesToJunk, looksJunk, provenAuthor } from './junk-verdict.js';
import { newEmail } from './new-email.js';
import { JUDGED_INLINE } from './prefetch.js';

interface Mail {
  readonly blob: string;
  readonly receivedAt: number;
  readonly summary: MessageSummary;
  /** The message is in the store. */
  readonly isStored: boolean;
  readonly isJunk?: boolean | undefined;
  readonly envelope: ArrivedEnvelope;
  readonly onward?: SentOnward | undefined;
  /** What filters look at. */
  readonly read?: ReadMessage | undefined;
  /** What the active script looks at; undefined when none runs. */
  readonly scripted?: SieveMessage | undefined;
}

/** The envelope of mail that another component has stored. */
const UNKNOWN_ENVELOPE: ArrivedEnvelope = { sender: '', recipient: null };
const NO_FLAGS = { bits: 0, keywords: [] };

type Names = 'deliver' | 'announce' | 'applyBodyFilters';

export const deliverCommands: Pick<MailboxHandlers<MailboxProtocol>, Names> = {
  deliver: {
    reads(mail, state) {
      if ('inlineId' in mail) return mail.isJunk === true ? undefined : JUDGED_INLINE;
      const { inboundId, blob, summary, bounce } = mail;
      const isFiltered = !goesToJunk(state.senders, summary.fromAddress, mail) && !state.isDelivered(inboundId);
      const script = isFiltered ? activeScript(state.sieve) : undefined;
      return {
        ...(isFiltered && { judged: { blob, author: provenAuthor(summary.fromAddress, mail) } }),
        ...(script !== undefined && { scripted: { blob, readsBody: readsBody(state.sieve, script) } }),
        ...(isFiltered && { filtered: { blob, facts: factsOf(summary) } }),
        ...(bounce !== undefined && { outbound: { returned: bounce.messageId } }),
      };
    },
    plan: deliver,
  },
  announce: { reads: ({ emailId }) => ({ announced: emailId }), plan: announce },
  applyBodyFilters: {
    reads({ emailId, filterIds }, { filters }) {
      const isForwarded = filters.some(({ id, forwardTo }) => forwardTo !== null && filterIds.includes(id));
      return isForwarded ? { announced: emailId } : undefined;
    },
    plan: applyBodyFilters,
  },
};

function deliver(
  tx: MailboxTransaction,
  mail: Payload<MailboxProtocol, 'deliver'>,
): Outcome<MailboxProtocol, 'deliver'> {
  const { inboundId, receivedAt, isTried } = mail;
  const found = tx.messages.open<{ emailId: string | null }>([mail]);
  if (!('opened' in found)) return found;
  const { opened } = found;
  const [inlineMessage] = opened.inline;
  const isInline = inlineMessage !== undefined;
  // The message arrived twice at once: with a command of another node, and then from its inbound row.
  const placed = isInline ? undefined : tx.messages.placed.get(inboundId);
  if (placed !== undefined) {
    tx.consume(inboundId);
    return { reply: placed };
  }
  if (tx.isConsumed(inboundId)) return isInline ? { refusal: 'unstored' } : { reply: { emailId: null } };
  if (isBounceEarly(tx, mail)) return { refusal: 'attemptUnderWay' };
  const { blob, summary } = opened.messages[0]!;
  const suspected =
    goesToJunk(tx.senders, summary.fromAddress, mail) || looksJunk(tx, mail, opened.messages[0]!, inlineMessage);
  // What the message looks like is read from the store.
  if (suspected === 'unstored') return tx.messages.decline();
  const isJunk = suspected;
  const read = isInline ? readInline(tx, isJunk, inlineMessage) : tx.prefetched.messages.get(blob);
  const scripted = isInline ? scriptedInline(tx, isJunk, inlineMessage) : scriptedStored(tx, isJunk, blob);
  // Filters read bodies from the store.
  if (read === 'unstored' || scripted === 'unstored') return tx.messages.decline();
  if (scripted === 'later') return { refusal: 'attemptUnderWay' };
  const { onward } = mail;
  const about = { isJunk, envelope: envelopeOf(mail), onward, read, scripted };
  const placing = place(tx, { blob, receivedAt, summary, isStored: !isInline, ...about }, inboundId);
  if (placing === 'unstored') return tx.messages.decline();
  if (placing === 'later') return { refusal: 'attemptUnderWay' };
  const { emailId, isNeeded } = placing;
  takeBounce(tx, mail);
  const reply = { emailId };
  if (!isInline) tx.consume(inboundId);
  if (isTried === true) tx.remember(inboundId, reply);
  if (inlineMessage?.isCarried === true) tx.messages.placed.set(inboundId, reply);
  tx.messages.accept(opened, reply, isNeeded);
  return { reply };
}

/** What filters look at in a message that is in memory; `unstored` when they look at its body. */
function readInline(
  tx: MailboxTransaction,
  isJunk: boolean,
  { message: { content, summary } }: InlineMessage,
): ReadMessage | 'unstored' {
  const filters = tx.filters.all();
  if (isJunk || filters.length === 0) return NOTHING_READ;
  const unread = unreadParts(filters, factsOf(summary));
  if (!unread.header) return unread.body ? 'unstored' : NOTHING_READ;
  const header = headerOf(content);
  if (header === undefined) return 'unstored';
  const read = { header, body: null };
  return unreadParts(filters, factsOf(summary, read)).body ? 'unstored' : read;
}

const envelopeOf = ({ sender, recipient }: Payload<MailboxProtocol, 'deliver'>): ArrivedEnvelope => ({
  sender: sender ?? '',
  recipient: recipient ?? null,
});

interface Placed {
  /** Null when a filter has deleted the email, or when it only goes elsewhere. */
  readonly emailId: string | null;
  /** Whether the octets are needed. */
  readonly isNeeded: boolean;
}

/** Nothing is placed when the message must be stored before a script edits it, or when what was edited could not be stored. */
function place(tx: MailboxTransaction, mail: Mail, deliveryId: string): Placed | 'unstored' | 'later' {
  // No junk goes elsewhere: the account finds it in its Junk folder.
  if (mail.isJunk === true) return { emailId: placeJunk(tx, mail), isNeeded: true };
  const { blob, receivedAt, summary, read, scripted } = mail;
  const onward = mail.onward !== undefined && tx.dueMail.hasRoom() ? mail.onward : undefined;
  if (onward?.isPlaced === false) {
    tx.begin();
    sendOnward(tx, mail, onward);
    return { emailId: null, isNeeded: true };
  }
  const result = afterScript(tx, planDelivery(tx.filters.all(), factsOf(summary, read)), scripted, mail.envelope);
  const { plan, script } = result;
  const forms = deliveredForms(tx, mail, script);
  if (typeof forms === 'string') return forms;
  const folderIds = foldersOf(tx, plan);
  const forwards = forwardsIn(tx, result, folderIds);
  tx.begin();
  // A target of both gets the message once.
  const others = onward?.targets.filter((target) => !forwards.targets.includes(target)) ?? [];
  if (onward !== undefined) sendOnward(tx, mail, { ...onward, targets: others });
  countMatches(tx, result);
  if (forwards.targets.length > 0) {
    const placing = { folderIds, labelIds: labelsOf(tx, plan), flags: [...plan.flags] };
    dueForms(tx, mail, forms, forwards, { placing: plan.remove ? undefined : placing });
  }
  const isNew = !folderIds.every((folderId) => isBin(tx, folderId));
  if (isNew && (!plan.remove || result.script?.isRedirected === true)) dueVacationReply(tx, mail);
  const isAnswered = script !== undefined && takeEffects(tx, mail, script, { isJunk: isInJunk(tx, folderIds) });
  const isNeeded = forwards.isKept || forwards.targets.length > 0 || onward !== undefined || isAnswered;
  if (!isNeeded) tx.discard(blob, deliveryId);
  // Edited messages have content of their own.
  else if (forms.isEdited) tx.discard(blob);
  if (!forwards.isKept) return { emailId: null, isNeeded };
  const id = tx.newId();
  const placed = addEmail(tx, id, { receivedAt, ...forms.email }, plan);
  for (const { folderIds, flags, ...form } of forms.copies)
    addEmail(tx, tx.newId(), { receivedAt, ...form }, { ...plan, folderIds, flags });
  deferUndecided(tx, id, result, placed, mail.envelope);
  tx.announceUnread();
  return { emailId: id, isNeeded: true };
}

/** Adds an email in the folders of the plan. */
function addEmail(
  tx: MailboxTransaction,
  id: string,
  { blob, summary, receivedAt }: Pick<Mail, 'blob' | 'summary' | 'receivedAt'>,
  plan: DeliveryPlan,
): readonly Placement[] {
  const folderIds = foldersOf(tx, plan);
  const { bits: flags, keywords } = plan.flags.size === 0 ? NO_FLAGS : keptFlags(tx, plan.flags);
  const email = newEmail(summary, { id, blob, receivedAt, flags, keywords });
  const isNew = !folderIds.every((folderId) => isBin(tx, folderId));
  return tx.add(email, [...new Set([...folderIds, ...labelsOf(tx, plan)])], { isNew });
}

/** Nothing is sent on of mail that filters put in Junk; without room for more due mail the account keeps what it would send on. */
function forwardsIn(tx: MailboxTransaction, result: FilterResult, folderIds: readonly string[]): Forwards {
  if (isInJunk(tx, folderIds)) return NO_FORWARDS;
  const forwards = forwardsOf(tx.dueMail.forwarding, result);
  return forwards.targets.length === 0 || tx.dueMail.hasRoom() ? forwards : NO_FORWARDS;
}

const isInJunk = (tx: MailboxTransaction, folderIds: readonly string[]): boolean =>
  folderIds.length > 0 && folderIds.every((id) => tx.folders.row(id)!.role === 'junk');

/** Junk mail is announced to nobody, and no filter moves it: users find it in the Junk folder. */
function placeJunk(tx: MailboxTransaction, { blob, receivedAt, summary }: Mail): string {
  tx.begin();
  const id = tx.newId();
  const email = newEmail(summary, { id, blob, receivedAt, flags: 0, keywords: [] });
  tx.add(email, [tx.folders.rowOf('junk').id], { isNew: false });
  return id;
}

function announce(
  tx: MailboxTransaction,
  { emailId }: Payload<MailboxProtocol, 'announce'>,
): Outcome<MailboxProtocol, 'announce'> {
  const slot = tx.findShown(emailId);
  if (slot < 0) return { refusal: 'noSuchEmail' };
  const row = rowOf(tx, emailId);
  const result = planDelivery(tx.filters.all(), factsOf(row, tx.prefetched.messages.get(row.blob)));
  const { plan } = result;
  tx.begin();
  countMatches(tx, result);
  const envelope = UNKNOWN_ENVELOPE;
  const placed = tx.prefetched.placedWithEmail.filter(({ folderId, uid }) => tx.folders.uid(folderId, slot) === uid);
  // Only what arrives in the inbox is sent on; the email is the copy, unless a filter deletes it.
  const isInInbox = placed.some(({ folderId }) => folderId === tx.folders.rowOf('inbox').id);
  const { targets, isKept } = isInInbox ? forwardsIn(tx, result, foldersOf(tx, plan)) : { targets: [], isKept: false };
  const id = dueIdOf(emailId, 'announce');
  dueForwards(tx, arrivedOf(row, envelope), { targets, isKept: !plan.remove }, { id });
  if (plan.remove && !isKept) {
    endDelivery(tx, slot, placed);
    tx.announceUnread();
    return { reply: { isKept: tx.findShown(emailId) >= 0 } };
  }
  const flags = keptFlags(tx, plan.flags);
  const isRead = ((tx.flags(slot) | flags.bits) & SEEN) !== 0;
  const given = [...assignLabels(tx, slot, plan), ...moveDelivered(tx, slot, plan, placed)];
  deferUndecided(tx, emailId, result, [...placed, ...given], envelope);
  const { fromAddress, fromName: fromDisplayName, subject, receivedAt, hasAttachments } = row;
  tx.announce({ emailId, fromAddress, fromDisplayName, subject, receivedAt, hasAttachments, isRead });
  addFlags(tx, slot, flags);
  tx.announceUnread({ always: !isRead });
  return { reply: { isKept: true } };
}

/** @throws the fault that prevented reading it */
function rowOf(tx: MailboxTransaction, emailId: string): EmailSummaryRow {
  const row = tx.prefetched.rows.get(emailId);
  if (row === undefined) throw tx.prefetched.fault ?? new Error(`email ${emailId} was not read`);
  return row;
}

function arrivedOf(row: EmailSummaryRow, envelope: ArrivedEnvelope) {
  const { id: _id, threadId: _threadId, origin: _origin, blob, receivedAt, ...summary } = row;
  return { blob, receivedAt, summary, envelope };
}

/** Applies the filters that waited for the body of an email and that its words match, as the delivery would have done. */
function applyBodyFilters(
  tx: MailboxTransaction,
  { emailId, filterIds }: Payload<MailboxProtocol, 'applyBodyFilters'>,
): Outcome<MailboxProtocol, 'applyBodyFilters'> {
  const awaitingBody = tx.filters.bodyFiltersOf(emailId);
  if (awaitingBody === undefined) return { reply: { applied: 0 } };
  tx.begin();
  tx.filters.endBodyFilters(emailId);
  const slot = tx.find(emailId);
  if (slot < 0) return { reply: { applied: 0 } };
  const matching = tx.filters
    .all()
    .filter(({ id, isEnabled }) => isEnabled && awaitingBody.filterIds.includes(id) && filterIds.includes(id));
  const matched = upToLast(matching);
  const plan = planOf(matched);
  countMatches(tx, { matched });
  // Somebody may have put the email in Junk since.
  const isJunk = isInJunk(tx, foldersOf(tx, plan)) || isInJunk(tx, tx.folders.holding(slot));
  const targets = isJunk ? [] : [...plan.forwardTo];
  const hasRoom = targets.length === 0 || tx.dueMail.hasRoom();
  if (targets.length > 0 && hasRoom) {
    const mail = arrivedOf(rowOf(tx, emailId), awaitingBody.envelope ?? UNKNOWN_ENVELOPE);
    const id = dueIdOf(emailId, 'applyBodyFilters');
    dueForwards(tx, mail, { targets, isKept: !plan.remove }, { id });
  }
  if (plan.remove && hasRoom) endDelivery(tx, slot, awaitingBody.placed);
  else {
    assignLabels(tx, slot, plan);
    moveDelivered(tx, slot, plan, awaitingBody.placed);
    addFlags(tx, slot, keptFlags(tx, plan.flags));
  }
  tx.announceUnread();
  return { reply: { applied: matched.length } };
}

/** Ends the placements that the delivery made and nobody has changed since; copies that clients made stay. */
function endDelivery(tx: MailboxTransaction, slot: number, placed: readonly Placement[]): void {
  const still = placed.filter(({ folderId, uid }) => tx.folders.uid(folderId, slot) === uid);
  if (still.length === tx.folders.holding(slot).length) tx.remove([slot]);
  else for (const { folderId } of still) tx.unplace([slot], folderId);
}

/** Returns the placements that the labels create. */
function assignLabels(tx: MailboxTransaction, slot: number, plan: DeliveryPlan): readonly Placement[] {
  return placeIn(tx, slot, labelsOf(tx, plan));
}

/** Returns the placements that are created. */
function placeIn(tx: MailboxTransaction, slot: number, folderIds: readonly string[]): readonly Placement[] {
  const given = folderIds.filter((folderId) => !isKept(tx, slot, folderId));
  for (const folderId of given) put(tx, slot, folderId);
  return given.map((folderId) => ({ folderId, uid: tx.folders.uid(folderId, slot) }));
}

/**
 * Moves an email that its delivery has placed to the folders of the plan, unless somebody has taken it out of the inbox since. Returns the
 * placements that are created.
 */
function moveDelivered(
  tx: MailboxTransaction,
  slot: number,
  plan: DeliveryPlan,
  placed: readonly Placement[],
): readonly Placement[] {
  const inbox = tx.folders.rowOf('inbox').id;
  const targets = plan.folderIds.size === 0 ? [inbox] : foldersOf(tx, plan);
  if (targets.includes(inbox) && targets.length === 1) return [];
  const isThere = placed.some(({ folderId, uid }) => folderId === inbox && tx.folders.uid(inbox, slot) === uid);
  if (!isThere) return [];
  const given = placeIn(tx, slot, targets);
  if (!targets.includes(inbox)) tx.unplace([slot], inbox);
  return given;
}

function addFlags(tx: MailboxTransaction, slot: number, { bits, keywords }: Pick<FlagSet, 'bits' | 'keywords'>): void {
  const before = tx.keywords(slot);
  const added = keywords.filter((name) => !before.includes(name));
  tx.setFlags([slot], tx.flags(slot) | bits, added.length === 0 ? undefined : [...before, ...added]);
}

/** Filters that look at an unread body are applied later: mail does not wait for its body. */
function deferUndecided(
  tx: MailboxTransaction,
  emailId: string,
  { undecided }: FilterResult,
  placed: readonly Placement[],
  envelope: ArrivedEnvelope,
): void {
  if (undecided.length === 0) return;
  tx.filters.defer({ emailId, filterIds: undecided.map(({ id }) => id), placed, envelope });
}

function labelsOf(tx: MailboxTransaction, { labelIds }: DeliveryPlan): string[] {
  return [...labelIds].filter((id) => tx.folders.label(id) !== undefined);
}

/** The folders that the email goes to: the inbox when the plan names none that exists. */
function foldersOf(tx: MailboxTransaction, { folderIds }: DeliveryPlan): string[] {
  const existing = [...folderIds].filter((id) => tx.folders.row(id) !== undefined);
  return existing.length > 0 ? existing : [tx.folders.rowOf('inbox').id];
}

function isBin(tx: MailboxTransaction, folderId: string): boolean {
  const { role } = tx.folders.row(folderId)!;
  return role === 'trash' || role === 'junk';
}

function countMatches(tx: MailboxTransaction, { matched }: Pick<FilterResult, 'matched'>): void {
  for (const filter of matched) tx.filters.count(filter, tx.now);
}
