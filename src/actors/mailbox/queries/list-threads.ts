// Brings the column of threads up to date before a list is grouped by it: all threads on first use, then those that commits have changed.
import { CoalescedReads } from '../../../concurrency/coalesced-reads.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { MailboxState } from '../state/state.js';
import type { ThreadColumn } from '../state/thread-column.js';

/** The emails whose threads one statement reads. */
const MOST_EMAILS = 500;

type ThreadStore = Pick<MailboxStore, 'threads' | 'threadsOf' | 'settleThreads'>;

/** Concurrent questions to one mailbox share a reading. */
const readings = new WeakMap<MailboxState, CoalescedReads<void>>();

/** The column after it has everything that was committed before the call. */
export async function currentThreads(store: ThreadStore, state: MailboxState): Promise<ThreadColumn> {
  const { threads } = state;
  if (!threads.isCurrent) {
    const reading = readings.get(state) ?? new CoalescedReads(() => read(store, state));
    readings.set(state, reading);
    await reading.of(state.accountId);
  }
  return threads;
}

async function read(store: ThreadStore, state: MailboxState): Promise<void> {
  const { accountId, emails, threads } = state;
  if (threads.isMissing) {
    const { unsettled } = threads;
    const isSettled = unsettled > 0 && (await store.settleThreads(accountId));
    for await (const page of store.threads(accountId)) threads.load(page);
    threads.loaded(isSettled ? unsettled : 0);
    if (isSettled) state.threadsAt = state.modseq;
  }
  for (let slots = threads.unread(MOST_EMAILS); slots.length > 0; slots = threads.unread(MOST_EMAILS)) {
    const ids = slots.filter((slot) => emails.isAlive(slot)).map((slot) => emails.id(slot));
    if (ids.length > 0) threads.replace(await store.threadsOf(accountId, ids));
    threads.read(slots);
  }
}
