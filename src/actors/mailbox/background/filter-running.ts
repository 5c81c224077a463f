// Works on runs of filters over existing mail: asks the mailbox for the next emails, reads what the filter looks at, and asks it to apply the
// filter to those that match. The state of a run is in the store, so the next owner continues it.
import type { Logger } from 'pino';
import { WorkQueue } from '../../../concurrency/work-queue.js';
import type { FilterRow } from '../../../store/mailbox-rows.js';
import { ActorFault } from '../../runtime/errors.js';
import type { Reply } from '../../runtime/protocol.js';
import { FoldedFacts } from '../filters/filter-match.js';
import { NOTHING_READ, readParts } from '../filters/filter-reads.js';
import type { Mailboxes, MailboxProtocol } from '../protocol.js';
import type { EmailTexts } from '../search/email-texts.js';

/** Accounts that are processed at a time. */
const AT_ONCE = 2;
/** The most accounts that are remembered; the runs of others continue when their mailbox is loaded again. */
const MAX_WAITING = 50_000;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** The time to read the emails of a batch. */
const READING_MS = 60_000;

export interface FilterRunNotes {
  /** Reports that a run of the account has work. */
  note(accountId: string): void;
}

export interface FilterRunning extends FilterRunNotes {
  stop(): Promise<void>;
}

export interface FilterRunningOptions {
  readonly texts: EmailTexts;
  readonly mailboxes: Mailboxes;
  readonly log: Pick<Logger, 'warn'>;
  readonly retryMs?: number;
}

type Batch = NonNullable<Reply<MailboxProtocol, 'filterRunWork'>['apply']>;

export function startFilterRunning({ texts, mailboxes, log, retryMs = RETRY_MS }: FilterRunningOptions): FilterRunning {
  // Nobody waits for the emails of a run: as much of a body is read as users are shown.
  const longTexts: EmailTexts = {
    header: (blob) => texts.header(blob),
    text: (accountId, blob) => texts.longText(accountId, blob),
    longText: (accountId, blob) => texts.longText(accountId, blob),
    searchable: (messages, signal) => texts.searchable(messages, signal),
  };

  /** @throws the fault of a message that may be read later */
  async function matching(accountId: string, { rule, emails }: Batch): Promise<string[]> {
    const asking = [{ ...(rule as FilterRow), isEnabled: true }];
    const judged = emails.map(({ emailId, blob, facts }) => ({ emailId, blob, facts: { ...facts, ...NOTHING_READ } }));
    let fault: unknown;
    const read = await readParts(longTexts, accountId, asking, judged, READING_MS, (err, blob) => {
      if ((err as { temporary?: boolean }).temporary === true) fault = err;
      else log.warn({ accountId, blob, err }, 'a run of a filter passes over a message that cannot be read');
    });
    if (fault !== undefined) throw fault;
    return judged.flatMap(({ emailId, blob, facts }) => {
      const folded = new FoldedFacts({ ...facts, ...read.get(blob) });
      return folded.judge(asking[0]!) === 'matches' ? [emailId] : [];
    });
  }

  /** Works on one batch; the account then waits behind the others. */
  async function work(accountId: string): Promise<number | undefined> {
    const mailbox = mailboxes.of(accountId);
    const { apply, undo } = (await mailbox.ask('filterRunWork', {})).reply ?? {};
    if (apply !== undefined) {
      const { runId, after, upTo, isLast } = apply;
      const emailIds = await matching(accountId, apply);
      await mailbox.ask('applyFilterRun', { runId, after, upTo, isLast, emailIds });
    } else if (undo !== undefined) await mailbox.ask('undoFilterBatch', undo);
    else return undefined;
    return 0;
  }

  const isGone = (error: unknown) => error instanceof ActorFault && error.code === 'no-such-account';
  const queue = new WorkQueue({
    work,
    failed(accountId, err) {
      if (!isGone(err)) log.warn({ accountId, err }, 'a run of a filter waits');
    },
    isTemporary: (error) => !isGone(error),
    workers: AT_ONCE,
    most: MAX_WAITING,
    backoff: { firstMs: retryMs, longestMs: LONGEST_RETRY_MS },
  });
  return {
    note: (accountId) => void queue.add(accountId),
    stop: () => queue.stop(),
  };
}
