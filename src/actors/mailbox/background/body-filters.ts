// Applies filters on the body of an email after its delivery, when the body could not be read in time, or not completely: it is read in the
// background. The waiting filters are in the store, so a node that ends loses none. A body that cannot be decoded, or is longer than what
// users are shown, is judged by its start, and the log says so.
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type WorkAttempt, WorkQueue } from '../../../concurrency/work-queue.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import { ActorFault } from '../../runtime/errors.js';
import type { Reply } from '../../runtime/protocol.js';
import type { Mailboxes, MailboxProtocol } from '../protocol.js';
import type { BodyText, EmailTexts } from '../search/email-texts.js';

/** Accounts that are processed at a time. */
const AT_ONCE = 2;
/** The most accounts that are remembered; filters of further accounts are applied when their mailbox is loaded again. */
const MAX_WAITING = 50_000;
/** Attempts to decode a body completely. */
const TRIES = 5;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** Characters of a body that are searched before the event loop gets a turn. */
const PIECE = 256 * 1024;
/** The most characters that folding may turn one letter into. */
const CHARACTERS_A_LETTER = 4;

export interface BodyFilterNotes {
  /** Reports that emails of the account wait for filters. */
  note(accountId: string): void;
}

export interface BodyFiltering extends BodyFilterNotes {
  stop(): Promise<void>;
}

export interface BodyFilteringOptions {
  readonly texts: Pick<EmailTexts, 'longText'>;
  readonly mailboxes: Mailboxes;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly retryMs?: number;
}

const APPLIED: Readonly<Record<BodyText['extent'], string>> = {
  whole: 'filters were applied after the delivery',
  start: 'filters were applied to the start of a body that is too long',
  undecoded: 'filters were applied to the start of a body that cannot be decoded',
};

type Waiting = Reply<MailboxProtocol, 'filtersAwaitingBody'>['emails'][number];

/** A body that another attempt may decode completely. */
class NotDecoded extends Error {}

export function startBodyFiltering(options: BodyFilteringOptions): BodyFiltering {
  const { texts, mailboxes, log, retryMs = RETRY_MS } = options;

  /** Returns false when another attempt may read the whole body. */
  async function apply(accountId: string, { emailId, blob, filters }: Waiting, isLastTry: boolean): Promise<boolean> {
    const { text, extent } = await texts.longText(accountId, blob);
    if (extent === 'undecoded' && !isLastTry) return false;
    const found = await wordsIn(
      text,
      filters.map(({ bodyContains }) => bodyContains),
    );
    const filterIds = filters.filter(({ bodyContains }) => found.has(bodyContains)).map(({ id }) => id);
    const { reply } = await mailboxes.of(accountId).ask('applyBodyFilters', { emailId, filterIds });
    const applied = reply?.applied ?? 0;
    log[extent === 'whole' ? 'info' : 'warn']({ accountId, emailId, applied }, APPLIED[extent]);
    return true;
  }

  /** Resolves when no filter waits, or when the node stops. @throws NotDecoded */
  async function work(accountId: string, { failures, signal }: WorkAttempt): Promise<undefined> {
    while (!signal.aborted) {
      const { reply } = await mailboxes.of(accountId).ask('filtersAwaitingBody', {});
      const emails = reply?.emails ?? [];
      if (emails.length === 0) return;
      let isDone = true;
      for (const email of emails) {
        if (signal.aborted) return;
        if (!(await apply(accountId, email, failures + 1 >= TRIES))) isDone = false;
      }
      if (!isDone) throw new NotDecoded();
    }
  }

  const isGone = (error: unknown) => error instanceof ActorFault && error.code === 'no-such-account';
  const queue = new WorkQueue({
    work,
    failed(accountId, err) {
      if (isGone(err) || err instanceof NotDecoded) return;
      log.warn({ accountId, err }, 'filters that wait for a body could not be applied yet');
    },
    isTemporary: (error) => !isGone(error),
    workers: AT_ONCE,
    most: MAX_WAITING,
    backoff: { firstMs: retryMs, longestMs: LONGEST_RETRY_MS },
  });
  return {
    note: (accountId) => void queue.addAfter(accountId, retryMs),
    stop: () => queue.stop(),
  };
}

/** Returns the conditions whose text the body contains, without regard to case. */
async function wordsIn(text: string, conditions: readonly string[]): Promise<ReadonlySet<string>> {
  const wanted = new Map(conditions.map((condition) => [condition, caseFolded(condition)]));
  // Pieces overlap, so that words across the end of a piece are found in it.
  const overlap = CHARACTERS_A_LETTER * Math.max(0, ...[...wanted.values()].map(({ length }) => length));
  const found = new Set<string>();
  for (let at = 0; at < text.length; at += PIECE) {
    const piece = caseFolded(text.slice(at, at + PIECE + overlap));
    for (const [condition, folded] of wanted) if (piece.includes(folded)) found.add(condition);
    await setImmediate();
  }
  return found;
}
