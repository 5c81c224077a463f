// The mailbox actor: combines its commands and queries, and commits between plan and evolve.
import type { Logger } from 'pino';
import { CacheBudget } from '../../bounds/cache-budget.js';
import type { RetryPolicy } from '../../machines/outbound-email/retry.js';
import type { BlobStore } from '../../store/blobs.js';
import { logged } from '../../store/changes.js';
import { coalesce } from '../../store/coalesced-changes.js';
import type { CommitResult, LocalDelivery, MailboxChange, MailboxStore, ThreadChange } from '../../store/mailboxes.js';
import type { HostedDelivery } from '../delivery/local-transport.js';
import type { Behavior } from '../runtime/behavior.js';
import { type MailboxActorProtocol, mailboxActorProtocol } from './actor-protocol.js';
import { append, appendInline } from './append.js';
import type { BodyFilterNotes } from './body-filters.js';
import type { MailboxHandlers } from './command-handlers.js';
import { expire, remove } from './delete.js';
import { deliverCommands } from './deliver.js';
import type { EmailTexts } from './email-texts.js';
import { filterQueries } from './filter-queries.js';
import { filterCommands } from './filters.js';
import { setRead, storeFlags } from './flags.js';
import { folderQueries } from './folder-queries.js';
import { createFolder, deleteFolder, renameFolder, subscribeFolder } from './folders.js';
import { placeImported } from './imported-mail.js';
import { renameInbox } from './inbox-rename.js';
import type { InlineMessages } from './inline-messages.js';
import { forgetSubscription } from './kept-subscriptions.js';
import { assignLabel, createLabel, deleteLabel, unassignLabel, updateLabel } from './labels.js';
import { liveListQueries } from './live-lists.js';
import { maildropCommands, maildropQueries } from './maildrop.js';
import { MaildropLocks } from './maildrop-locks.js';
import { setMetadata } from './metadata.js';
import { queuedCommands } from './outbound/cancelling.js';
import { outboundCommands } from './outbound/commands.js';
import { deliveryCommands } from './outbound/deliveries.js';
import type { AccountQueue, DeliverySlots } from './outbound/delivery-slots.js';
import { deliveryQueries, queueQueries } from './outbound/queries.js';
import { copy, expunge, move } from './placing.js';
import { choosePreferences } from './preferences.js';
import { type CommandReads, type Prefetched, prefetch } from './prefetch.js';
import { mailboxQueries } from './queries.js';
import { isIndexLookDue, type MailboxSearch } from './search.js';
import { weightOf } from './selection.js';
import { loadMailbox, type MailboxState } from './state.js';
import { MailboxTransaction } from './transaction.js';
import { isAllRead, readAlso } from './unread.js';

/** Memory for the summaries of all mailboxes together. */
const SUMMARY_OCTETS = 64 * 1024 * 1024;

const commands: Omit<MailboxHandlers<MailboxActorProtocol>, 'openMaildrop' | 'quitMaildrop'> = {
  ...deliverCommands,
  append,
  appendInline,
  placeImported,
  setRead,
  storeFlags,
  copy,
  move,
  expunge,
  remove,
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
  ...filterCommands,
  ...outboundCommands,
  ...deliveryCommands,
  ...queuedCommands,
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
  readonly blobs: Pick<BlobStore, 'index'>;
  /** The locks of all mailboxes of the node; when absent, the behavior creates its own. */
  readonly maildrops?: MaildropLocks;
  /** The inline messages of this node. */
  readonly inlineMessages: Pick<InlineMessages, 'find' | 'decline' | 'weightOf'>;
  readonly outbound: OutboundHooks;
  readonly log: Pick<Logger, 'warn'>;
}

export function mailboxBehavior(
  sources: MailboxSources,
): Behavior<MailboxActorProtocol, MailboxState, MailboxTransaction, Prefetched, CommandReads> {
  const { store, texts, search, maildrops = new MaildropLocks() } = sources;
  const summaryBudget = new CacheBudget(SUMMARY_OCTETS);
  return {
    protocol: mailboxActorProtocol,
    async load(accountId, epoch) {
      const loaded = await loadMailbox(store, accountId, epoch);
      if (loaded.kind === 'loaded') {
        const { emails, summaries } = loaded.state;
        summaries.budget = summaryBudget;
        if (emails.size > 0) search.indexing.note(accountId, emails.id(emails.size - 1));
        if (loaded.state.awaitingBody.size > 0) sources.bodyFilters.note(accountId);
      }
      return loaded;
    },
    beforePlan: () => store.beforeCommit(),
    prepare: (state, declared) => {
      const reading = prefetch(sources, state, declared);
      return reading?.then((read) => {
        const { size: due } = read.outbound.hosted;
        return due === 0 ? read : { ...read, slots: sources.outbound.reserve(state.accountId, due) };
      });
    },
    weigh: (payload) => weightOf(payload) + sources.inlineMessages.weightOf(payload),
    begin: (state, context, read) => {
      return new MailboxTransaction(
        state,
        { retry: sources.outbound.retry, inlineMessages: sources.inlineMessages, ...context },
        read,
      );
    },
    release: ({ slots }) => slots?.release(),
    commands: { ...commands, ...maildropCommands(maildrops) },
    queries: {
      ...mailboxQueries(store, search),
      ...liveListQueries(store, search),
      ...folderQueries(store, search),
      ...filterQueries(store, texts),
      ...maildropQueries(maildrops),
      ...deliveryQueries(store),
      ...queueQueries(store, (accountId) => sources.outbound.queueOf(accountId)),
    },
    position: (state) => state.modseq,
    octets: (state) => state.octets,
    needsCompaction: (state) => state.needsCompaction,

    recall: (state, id) => state.recall(id),

    async commit(state, tx, remembered) {
      const { unread } = tx;
      if (!isAllRead(unread)) {
        return { kind: 'again', prefetched: await readAlso(store, state.accountId, tx.prefetched, unread) };
      }
      const change = tx.change(remembered);
      if (change === undefined) {
        // A command without changes, such as a refusal, was decided on this state: check that no later owner has a newer one.
        const isNewest = await store.isNewest(state.accountId, tx.epoch, state.modseq);
        return { kind: isNewest ? 'unchanged' : 'fenced' };
      }
      const begun = tx.outbound.begun.map(
        ({ id, attempt, started }) => [tx.prefetched.slots!.assign(id, attempt.id), started] as const,
      );
      let isCommitted = false;
      let threads: ThreadChange | undefined;
      try {
        const result = await committed(store, change, tx.accepted);
        if (result.kind === 'fenced') return result;
        if (result.kind === 'consumed') {
          state.rememberDelivered(result.inbound);
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
      const { emailsAdded, filtersAwaitingBody, localDeliveries } = coalesce(change.changes);
      const newest = emailsAdded.at(-1);
      if (newest !== undefined) search.indexing.note(change.accountId, newest.id);
      if (isIndexLookDue(dead, state.emails.dead))
        search.merging.removed(change.accountId, state.emails.size - state.emails.dead);
      if (filtersAwaitingBody.length > 0) sources.bodyFilters.note(change.accountId);
      for (const delivery of localDeliveries) sources.outbound.deliverLocally(delivery);
      for (const id of tx.outbound.due) sources.outbound.wakeQueue(change.accountId, id);
      const { modseqBefore, modseqAfter, changes } = change;
      return { kind: 'committed', events: { after: modseqBefore, seq: modseqAfter, events: logged(changes) } };
    },
  };
}

/** Commits, and settles the inline messages that the change accepts. Nothing runs between planning and this call. */
async function committed(
  store: MailboxStore,
  change: MailboxChange,
  accepted: MailboxTransaction['accepted'],
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
