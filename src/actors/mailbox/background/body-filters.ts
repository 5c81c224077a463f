// Applies filters after the delivery of an email, when the part of it that they look at could not be read in time, or not completely: it is
// read in the background. The waiting filters are in the store, so a node that ends loses none. A body that cannot be decoded, or is longer
// than what users are shown, is judged by its start, and the log says so.
import type { Logger } from 'pino';
import { type WorkAttempt, WorkQueue } from '../../../concurrency/work-queue.js';
import { ActorFault } from '../../runtime/errors.js';
import type { Reply } from '../../runtime/protocol.js';
import { searchBody } from '../filters/body-search.js';
import { type EmailFacts, FoldedFacts, unreadParts } from '../filters/filter-match.js';
import { wholeConditions } from '../filters/filters.js';
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

export interface BodyFilterNotes {
  /** Reports that emails of the account wait for filters. */
  note(accountId: string): void;
}

export interface BodyFiltering extends BodyFilterNotes {
  stop(): Promise<void>;
}

export interface BodyFilteringOptions {
  readonly texts: Pick<EmailTexts, 'header' | 'longText'>;
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
  async function apply(accountId: string, waiting: Waiting, isLastTry: boolean): Promise<boolean> {
    const { emailId, blob, facts: known } = waiting;
    const conditions = conditionsIn(waiting);
    const asking = conditions.map((each) => ({ ...each, isEnabled: true }));
    let facts: EmailFacts = { ...UNKNOWN, ...known, header: null, body: null };
    if (unreadParts(asking, facts).header) facts = { ...facts, header: await texts.header(blob) };
    let extent: BodyText['extent'] = 'whole';
    if (unreadParts(asking, facts).body) {
      const read = await texts.longText(accountId, blob);
      extent = read.extent;
      if (extent === 'undecoded' && !isLastTry) return false;
      const body = await searchBody({ text: read.text, isWhole: true }, facts.subject, conditions);
      facts = { ...facts, body };
    }
    const folded = new FoldedFacts(facts);
    const filterIds = conditions.filter((each) => folded.judge(each) === 'matches').map(({ id }) => id);
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

/** What a node of 0.2.0 leaves out: its filters wait for a body alone. */
const UNKNOWN = { fromAddress: '', subject: '', hasAttachments: false, size: 0 };
const NO_OTHERS = { fromAddressContains: null, subjectContains: null, hasAttachments: null };

const conditionsIn = ({ conditions, filters }: Waiting) =>
  conditions ?? filters.map((filter) => ({ id: filter.id, ...wholeConditions({ ...NO_OTHERS, ...filter }) }));
