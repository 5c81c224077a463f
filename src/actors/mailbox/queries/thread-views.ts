// Threads in details: the emails of a thread are read from the store once, and cached until a commit changes the thread. The store does not
// know which emails are hidden: if the mailbox may have hidden emails, the whole thread is read.
import type { MailboxStore, ThreadPart } from '../../../store/mailboxes.js';
import type { MailboxState } from '../state/state.js';
import type { EmailDetail } from '../view-shapes.js';
import { details, detailsOf } from './email-views.js';

const THREAD_PAGE = 500;

interface ThreadView {
  /** Oldest first. */
  readonly emails: EmailDetail[];
  /** Counts the whole thread, without hidden emails. */
  readonly total: number;
}

/** Undefined when the thread is not cached. */
export async function knownThread(
  store: MailboxStore,
  state: MailboxState,
  threadId: string,
  part: ThreadPart,
): Promise<ThreadView | undefined> {
  const slots = state.summaries.thread(threadId);
  return slots && partOf(store, state, slots, part);
}

async function partOf(
  store: MailboxStore,
  state: MailboxState,
  thread: readonly number[],
  part: ThreadPart,
): Promise<ThreadView> {
  const slots = thread.filter((slot) => state.isShown(slot));
  const shown =
    'newest' in part
      ? slots.slice(-part.newest)
      : slots.slice((part.page - 1) * part.pageSize, part.page * part.pageSize);
  return { emails: await details(store, state, shown), total: slots.length };
}

/** Slots of a thread, oldest first, including hidden emails. */
export async function wholeThread(store: MailboxStore, state: MailboxState, threadId: string): Promise<number[]> {
  const { summaries, emails } = state;
  const { version } = summaries;
  const ids: string[] = [];
  for (let page = 1, total = 1; (page - 1) * THREAD_PAGE < total; page++) {
    const part = await store.thread(state.accountId, threadId, { page, pageSize: THREAD_PAGE });
    total = part.total;
    ids.push(...part.rows.map(({ id }) => id));
  }
  const slots = ids.map((id) => emails.find(id)).filter((slot) => slot >= 0);
  if (slots.length > 0 && slots.length === ids.length) summaries.keepThread(threadId, slots, version);
  return slots;
}

/** Reads the thread from the store. A complete thread is cached. */
export async function readThread(
  store: MailboxStore,
  state: MailboxState,
  threadId: string,
  part: ThreadPart,
): Promise<ThreadView> {
  if (state.markedFolders().length > 0) return partOf(store, state, await wholeThread(store, state, threadId), part);
  const { summaries } = state;
  const { version } = summaries;
  const { rows, total } = await store.thread(state.accountId, threadId, part);
  const found = rows.map((row) => ({ row, slot: state.emails.find(row.id) })).filter(({ slot }) => slot >= 0);
  for (const { row, slot } of found) summaries.keep(slot, row, version);
  // Otherwise some emails are not in memory yet, or no longer.
  const isWhole = total > 0 && found.length === total;
  if (isWhole) {
    summaries.keepThread(
      threadId,
      found.map(({ slot }) => slot),
      version,
    );
  }
  summaries.budget.use(summaries);
  const emails = await detailsOf(store, state, found);
  return { emails, total: total - found.length + emails.length };
}
