// The mailbox actor: combines its commands and queries, and commits between plan and evolve.
import type { Logger } from 'pino';
import { CacheBudget } from '../../concurrency/cache-budget.js';
import type { RetryPolicy } from '../../machines/outbound-email/retry.js';
import type { BlobStore } from '../../store/blobs.js';
import { logged } from '../../store/changes/changes.js';
import { coalesce } from '../../store/changes/coalesced-changes.js';
import type { InlineMessages } from '../../store/inline/inline-messages.js';
import type { CommitResult, LocalDelivery, MailboxChange, MailboxStore, ThreadChange } from '../../store/mailboxes.js';
import type { HostedDelivery } from '../delivery/local-transport.js';
import { type MailboxQuotas, NO_QUOTAS } from '../quotas/protocol.js';
import type { Behavior } from '../runtime/behavior.js';
import type { MailboxSending } from '../sending/protocol.js';
import { type MailboxActorProtocol, mailboxActorProtocol } from './actor-protocol.js';
import type { AutomaticMailNotes } from './background/automatic-mail.js';
import type { BodyFilterNotes } from './background/body-filters.js';
import type { FilterRunNotes } from './background/filter-running.js';
import { append } from './commands/append.js';
import type { MailboxHandlers } from './commands/command-handlers.js';
import { expire, remove, removeFrom } from './commands/delete.js';
import { deliverCommands } from './commands/deliver.js';
import { setRead, storeFlags } from './commands/flags.js';
import { createFolder, deleteFolder, renameFolder, subscribeFolder } from './commands/folders.js';
import { placeImported } from './commands/imported-mail.js';
import { renameInbox } from './commands/inbox-rename.js';
import { forgetSubscription } from './commands/kept-subscriptions.js';
import { assignLabel, createLabel, deleteLabel, storeLabel, unassignLabel, updateLabel } from './commands/labels.js';
import { maildropCommands, maildropQueries } from './commands/maildrop.js';
import { MaildropLocks } from './commands/maildrop-locks.js';
import { setMetadata } from './commands/metadata.js';
import { copy, expunge, move } from './commands/placing.js';
import { choosePreferences } from './commands/preferences.js';
import { type CommandReads, type Prefetched, prefetch } from './commands/prefetch.js';
import { weightOf } from './commands/selection.js';
import { filterQueries } from './filters/filter-queries.js';
import { filterRunCommands, filterRunQueries } from './filters/filter-runs.js';
import { filterCommands } from './filters/filters.js';
import type { MailboxJunk } from './junk/mailbox-junk.js';
import { automaticCommands, automaticQueries } from './outbound/automatic.js';
import { queuedCommands } from './outbound/cancelling.js';
import { outboundCommands } from './outbound/commands.js';
import { deliveryCommands } from './outbound/deliveries.js';
import type { AccountQueue, DeliverySlots } from './outbound/delivery-slots.js';
import { deliveryQueries, queueQueries } from './outbound/queries.js';
import { senderDsnCommands } from './outbound/sender-dsns.js';
import { suppressionCommands, suppressionQueries } from './outbound/suppressions.js';
import { folderQueries } from './queries/folder-queries.js';
import { liveListQueries } from './queries/live-lists.js';
import { mailboxQueries } from './queries/queries.js';
import type { EmailTexts } from './search/email-texts.js';
import { isIndexLookDue, type MailboxSearch } from './search/search.js';
import { sieveCommands, sieveQueries } from './sieve/sieve-handlers.js';
import { loadMailbox, type MailboxState } from './state/state.js';
import { MailboxTransaction } from './state/transaction.js';
import type { TransactionMessages } from './state/transaction-messages.js';
import { isAllRead, readAlso } from './state/unread.js';

/** Memory for the summaries of all mailboxes together. */
const SUMMARY_OCTETS = 64 * 1024 * 1024;

const commands: Omit<MailboxHandlers<MailboxActorProtocol>, 'openMaildrop' | 'quitMaildrop'> = {
  ...deliverCommands,
  append,
  placeImported,
  setRead,
  storeFlags,
  copy,
  move,
  expunge,
  remove,
  removeFrom,
  expire,
  createFolder,
  renameFolder,
  renameInbox,
  deleteFolder,
  subscribeFolder,
  forgetSubscription(tx, { path }) {
    forgetSubscription(tx, path);
    return { reply: {} };
  },
  setMetadata,
  choosePreferences,
  createLabel,
  updateLabel,
  deleteLabel,
  assignLabel,
  unassignLabel,
  storeLabel,
  ...filterCommands,
  ...filterRunCommands,
  ...sieveCommands,
  ...outboundCommands,
  ...deliveryCommands,
  ...queuedCommands,
  ...automaticCommands,
  ...senderDsnCommands,
  ...suppressionCommands,
};

interface OutboundHooks extends DeliverySlots {
  readonly retry: RetryPolicy;
  /** Called when a commit has made a delivery or a DSN to the sender due now. Must not throw. */
  wakeQueue(accountId: string, outboundId: string): void;
  /** The queue on the node that delivers for the account. */
  queueOf(accountId: string): AccountQueue;
  /** Delivery to domains that this installation hosts. */
  readonly hosted: HostedDelivery;
  /** Called when a commit has delivered mail to another mailbox of this store, which may be asked to place it now. Must not throw. */
  deliverLocally(delivery: LocalDelivery): void;
}

export interface MailboxSources {
  readonly store: MailboxStore;
  readonly texts: EmailTexts;
  readonly search: MailboxSearch;
  readonly bodyFilters: BodyFilterNotes;
  readonly filterRuns: FilterRunNotes;
  readonly automaticMail: AutomaticMailNotes;
  /** Absent: no mail is judged by its words, and moves to and from Junk teach nothing. */
  readonly junk?: MailboxJunk | undefined;
  readonly blobs: Pick<BlobStore, 'index' | 'read' | 'put'>;
  /** The locks of all mailboxes of the node; when absent, the behavior creates its own. */
  readonly maildrops?: MaildropLocks;
  /** The inline messages of this node. */
  readonly inlineMessages: Pick<InlineMessages, 'find' | 'decline' | 'weightOf' | 'receive'>;
  readonly outbound: OutboundHooks;
  /** Absent: nothing has a limit. */
  readonly quotas?: MailboxQuotas;
  /** Absent: no recipients are counted, and no account is suspended. */
  readonly sending?: MailboxSending;
  readonly log: Pick<Logger, 'warn'>;
}

export function mailboxBehavior(
  sources: MailboxSources,
): Behavior<MailboxActorProtocol, MailboxState, MailboxTransaction, Prefetched, CommandReads> {
  const { store, texts, search, maildrops = new MaildropLocks(), quotas = NO_QUOTAS } = sources;
  const summaryBudget = new CacheBudget(SUMMARY_OCTETS);
  return {
    protocol: mailboxActorProtocol,
    async load(accountId, epoch) {
      const loaded = await loadMailbox(store, accountId, epoch);
      if (loaded.kind === 'loaded') {
        const { emails, summaries } = loaded.state;
        summaries.budget = summaryBudget;
        quotas.used(accountId, emails.usage);
        if (emails.size > 0) search.indexing.note(accountId, emails.id(emails.size - 1));
        if (loaded.state.awaitingBody.size > 0) sources.bodyFilters.note(accountId);
        if (loaded.state.filterRuns.size > 0) sources.filterRuns.note(accountId);
        if (loaded.state.dueMail.size > 0) sources.automaticMail.note(accountId);
      }
      return loaded;
    },
    beforePlan: () => store.beforeCommit(),
    prepare: (state, declared) => {
      const reading = prefetch(sources, state, declared);
      return reading instanceof Promise
        ? reading.then((read) => {
            const { size: due } = read.outbound.hosted;
            return due === 0 ? read : { ...read, slots: sources.outbound.reserve(state.accountId, due) };
          })
        : reading;
    },
    receive: (carried) => sources.inlineMessages.receive(carried),
    weigh: (payload) => weightOf(payload) + sources.inlineMessages.weightOf(payload),
    begin: (state, context, read) => {
      return new MailboxTransaction(
        state,
        { retry: sources.outbound.retry, inlineMessages: sources.inlineMessages, ...context },
        read,
      );
    },
    release: (read) => {
      read.slots?.release();
      read.release?.();
    },
    commands: { ...commands, ...maildropCommands(maildrops) },
    queries: {
      ...mailboxQueries(store, search),
      ...liveListQueries(store, search),
      ...folderQueries(store, search),
      ...filterQueries(store, texts),
      ...filterRunQueries(store),
      ...sieveQueries,
      ...maildropQueries(maildrops),
      ...automaticQueries,
      ...deliveryQueries(store),
      ...suppressionQueries,
      ...queueQueries(store, (accountId) => sources.outbound.queueOf(accountId)),
    },
    position: (state) => state.modseq,
    octets: (state) => state.octets,
    needsCompaction: (state) => state.needsCompaction,

    recall: (state, id) => state.recall(id),

    commit: (state, tx, remembered) => commitBatch(sources, state, tx, remembered),
  };
}

/** Commits, and settles the inline messages that the change accepts. Nothing runs between planning and this call. */
async function committed(
  store: MailboxStore,
  change: MailboxChange,
  accepted: TransactionMessages['accepted'],
): Promise<CommitResult> {
  for (const inlineMessage of accepted.keys()) inlineMessage.accept();
  try {
    const result = await store.commit(change);
    for (const [inlineMessage, outcome] of accepted) {
      if (result.kind === 'committed') inlineMessage.committed(outcome);
      else inlineMessage.released();
    }
    return result;
  } catch (error) {
    for (const inlineMessage of accepted.keys()) inlineMessage.failed(error);
    throw error;
  }
}

type MailboxBehavior = Behavior<MailboxActorProtocol, MailboxState, MailboxTransaction, Prefetched, CommandReads>;

async function commitBatch(
  sources: MailboxSources,
  state: MailboxState,
  tx: MailboxTransaction,
  remembered: Parameters<MailboxBehavior['commit']>[2],
): ReturnType<MailboxBehavior['commit']> {
  const { store } = sources;
  const { unread } = tx;
  if (!isAllRead(unread)) {
    return { kind: 'again', prefetched: await readAlso(sources, state.accountId, tx.prefetched, unread) };
  }
  const change = taughtBy(sources, tx, tx.change(remembered));
  if (change === undefined) {
    // A command without changes, such as a refusal, was decided on this state: check that no later owner has a newer one.
    const isNewest = await store.isNewest(state.accountId, tx.epoch, state.modseq);
    if (isNewest) tellLimits(sources, tx);
    return { kind: isNewest ? 'unchanged' : 'fenced' };
  }
  const begun = tx.outbound.begun.map(
    ({ id, attempt, started }) => [tx.prefetched.slots!.assign(id, attempt.id), started] as const,
  );
  let isCommitted = false;
  let threads: ThreadChange | undefined;
  try {
    const result = await committed(store, change, tx.messages.accepted);
    if (result.kind === 'fenced') return result;
    if (result.kind === 'repeated') {
      state.rememberDelivered(result.inbound);
      state.rememberReplies(result.replies);
      return { kind: 'again' };
    }
    if (result.kind === 'withheld') return { kind: 'again' };
    isCommitted = true;
    threads = result.threads;
  } finally {
    if (!isCommitted) for (const [slot] of begun) slot.release();
  }
  const { dead } = state.emails;
  state.evolve(change);
  if (threads !== undefined) state.changeThreads(threads);
  for (const [slot, started] of begun) slot.begin(started);
  startWork(sources, state, tx, change, dead);
  tellLimits(sources, tx);
  if (tx.dueMail.kept > 0) sources.automaticMail.kept(state.accountId, tx.dueMail.kept);
  const { modseqBefore, modseqAfter, changes } = change;
  return { kind: 'committed', events: { after: modseqBefore, seq: modseqAfter, events: logged(changes) } };
}

/** The change with what it teaches the junk filter, where that learns. */
function taughtBy({ junk }: MailboxSources, { dueMail }: MailboxTransaction, change: MailboxChange | undefined) {
  const { lessons } = dueMail;
  return change === undefined || lessons.length === 0 || junk?.learning === undefined ? change : { ...change, lessons };
}

/** Tells the node what its limits need: counts, reached limits, and sudden changes. */
function tellLimits({ sending }: MailboxSources, { state, sending: changes }: MailboxTransaction): void {
  const { counted, exceeded, sudden } = changes;
  if (counted !== undefined) sending?.counted(state.accountId, counted);
  if (exceeded !== undefined) sending?.exceeded(state.accountId, exceeded);
  if (sudden !== undefined) sending?.suspend(state.accountId, sudden);
}

/** Starts the work that a commit makes due. `dead`: the dead slots before the commit. */
function startWork(
  { search, bodyFilters, filterRuns, automaticMail, outbound, junk, quotas = NO_QUOTAS }: MailboxSources,
  state: MailboxState,
  tx: MailboxTransaction,
  change: MailboxChange,
  dead: number,
): void {
  const {
    emailsAdded,
    emailsRemoved,
    filtersAwaitingBody,
    filterRuns: runs,
    dueMail,
    localDeliveries,
  } = coalesce(change.changes);
  if (emailsAdded.length + emailsRemoved.length > 0) quotas.used(change.accountId, state.emails.usage);
  const newest = emailsAdded.at(-1);
  if (newest !== undefined) search.indexing.note(change.accountId, newest.id);
  if (isIndexLookDue(dead, state.emails.dead))
    search.merging.removed(change.accountId, state.emails.size - state.emails.dead);
  if (filtersAwaitingBody.length > 0) bodyFilters.note(change.accountId);
  if (runs.length > 0) filterRuns.note(change.accountId);
  if (dueMail.some(({ isQueued }) => !isQueued)) automaticMail.note(change.accountId);
  if (change.lessons !== undefined) junk?.learning?.note(change.accountId);
  for (const delivery of localDeliveries) outbound.deliverLocally(delivery);
  for (const id of tx.outbound.due) outbound.wakeQueue(change.accountId, id);
}
