// Threads as details show them: which emails a thread has is read from the store once, until a commit changes that.
import type { MailboxStore, ThreadPart } from '../../store/mailboxes.js';
import type { EmailDetail } from './email-view.js';
import { detailOf, details } from './shown-emails.js';
import type { MailboxState } from './state.js';

interface ShownThread {
  /** Oldest first. */
  readonly emails: EmailDetail[];
  /** Of the whole thread. */
  readonly total: number;
}

/** Undefined when the emails of the thread are not in memory. */
export async function knownThread(
  store: MailboxStore,
  state: MailboxState,
  threadId: string,
  part: ThreadPart,
): Promise<ShownThread | undefined> {
  const slots = state.summaries.thread(threadId)?.filter((slot) => state.emails.isAlive(slot));
  if (slots === undefined) return undefined;
  const shown =
    'newest' in part
      ? slots.slice(-part.newest)
      : slots.slice((part.page - 1) * part.pageSize, part.page * part.pageSize);
  return { emails: await details(store, state, shown), total: slots.length };
}

/** From the store. A thread that comes whole is kept in memory. */
export async function readThread(
  store: MailboxStore,
  state: MailboxState,
  threadId: string,
  part: ThreadPart,
): Promise<ShownThread> {
  const { summaries } = state;
  const { version } = summaries;
  const { rows, total } = await store.thread(state.accountId, threadId, part);
  const found = rows.map((row) => ({ row, slot: state.emails.find(row.id) })).filter(({ slot }) => slot >= 0);
  for (const { row, slot } of found) summaries.keep(slot, row, version);
  // Else some are not in memory yet, or not any more.
  const isWhole = total > 0 && found.length === total;
  if (isWhole) {
    summaries.keepThread(
      threadId,
      found.map(({ slot }) => slot),
      version,
    );
  }
  summaries.room.used(summaries);
  return { emails: found.map(({ row, slot }) => detailOf(state, slot, row)), total };
}
