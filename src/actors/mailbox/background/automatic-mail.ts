// Sends mail that is due because mail arrived (docs/decisions/0097): writes each message from the one that arrived, stores it, and asks the
// mailbox to queue it. What is due is in the store, so the next owner of the mailbox continues; the mailbox queues each message once.
import type { Logger } from 'pino';
import { type WorkAttempt, WorkQueue } from '../../../concurrency/work-queue.js';
import { type MessageSummary, summarize } from '../../../mail-format/summary.js';
import { type BlobStore, blobOf } from '../../../store/blobs.js';
import { clock } from '../../../store/clock.js';
import type { AutomaticKind, DueMail } from '../../../store/mailbox-rows.js';
import { ActorFault } from '../../runtime/errors.js';
import { addressed, isForElsewhere, mayWait } from '../outbound/automatic.js';
import type { Mailboxes } from '../protocol.js';
import { type AccountLooks, startLooks } from './account-looks.js';

/** Accounts that are processed at a time: each may have a whole message in memory. */
const AT_ONCE = 2;
/** The most accounts that are remembered; the mail of others is sent when their mailbox is loaded again. */
const MOST_WAITING = 50_000;
/** Messages of an account before the others get a turn. */
const IN_A_ROW = 10;
const LOOK_FAILED = 'mail that is due because mail arrived could not be looked for';
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5 * 60_000;
/** A message that cannot be written for so long is given up: the account gets the copy that only the due row has. */
const GIVE_UP_MS = 24 * 3_600_000;

/** A message waits until a limit lets it pass. */
class LimitReached extends Error {
  /** Its recipients. */
  readonly recipients: number;
  /** The most recipients that the limit ever allows. */
  readonly limit: number;

  constructor(over: 'hour' | 'day', recipients: number, limit = Number.POSITIVE_INFINITY) {
    super(`the account has sent on too much within ${over === 'hour' ? 'an hour' : 'a day'}`);
    this.recipients = recipients;
    this.limit = limit;
  }
}

/** A message that the server has written. */
interface WrittenMail {
  readonly message: Uint8Array;
  /** The envelope sender; '' is the null sender. */
  readonly sender: string;
  readonly to: readonly string[];
  /** The address that is told when the message fails; null: nobody. */
  readonly reportTo: string | null;
  /** The summary of a message that arrived, and of which the account has no email. */
  readonly arrived?: MessageSummary;
  /** Ends the use of the memory that the message takes. */
  release?(): void;
  /** Some of the targets get nothing, so the account keeps a copy. */
  readonly isPartial?: boolean;
}

/**
 * Writes the message of one kind from the one that arrived; `skip` is why nothing is sent, for the log. It must be safe to call again.
 * @throws StoreFault
 */
export type WriteMail = (accountId: string, due: DueMail) => Promise<WrittenMail | { readonly skip: string }>;

export interface AutomaticMailNotes {
  /** Reports that mail of the account is due. */
  note(accountId: string): void;
  /** Reports messages that the account keeps, and does not send on, because it has too much that is due. */
  kept(accountId: string, count: number): void;
}

/** What the metrics of the node are told. */
export interface ForwardMeter {
  /** Messages are not sent on, because too much is due, or too much was sent on within an hour or a day. */
  kept(why: 'due' | 'hour' | 'day', count: number): void;
}

export interface AutomaticMail extends AutomaticMailNotes {
  stop(): Promise<void>;
}

export interface AutomaticMailOptions {
  readonly write: Readonly<Partial<Record<AutomaticKind, WriteMail>>>;
  readonly blobs: Pick<BlobStore, 'put' | 'index'>;
  readonly mailboxes: Mailboxes;
  readonly meter?: ForwardMeter;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Finds what is due in mailboxes that are not loaded; asked every `intervalMs`. Absent: only reports count. */
  readonly look?: Omit<AccountLooks, 'failed'>;
  readonly retryMs?: number;
}

export function startAutomaticMail(options: AutomaticMailOptions): AutomaticMail {
  const { write, blobs, mailboxes, meter, log, look, retryMs = RETRY_MS } = options;

  /** `failures`: those of the account before. */
  async function send(accountId: string, due: DueMail, failures: number): Promise<void> {
    const { id: dueId, kind, targets } = due;
    const written = await write[kind]!(accountId, due).catch((err: unknown) =>
      givenUp(options, { accountId, due, failures, err }),
    );
    if ('skip' in written) {
      const kept = 'arrived' in written && { arrived: written.arrived };
      await mailboxes.of(accountId).ask('sendAutomaticMail', { dueId, outgoing: null, ...kept });
      log.info({ accountId, dueId, kind, targets, why: written.skip }, 'mail that arrived is not answered or sent on');
      return;
    }
    try {
      await queue(accountId, due, written);
    } finally {
      written.release?.();
    }
  }

  async function queue(accountId: string, { id: dueId, kind }: DueMail, written: WrittenMail): Promise<void> {
    const { message, to, arrived } = written;
    const content = blobOf(message);
    await blobs.put(content);
    const summary = summarize(content.index);
    const outgoing = { blob: content.hash, summary, ...envelopeOf(written) };
    const about = { dueId, outgoing, ...(arrived !== undefined && { arrived: arrived }) };
    const { reply } = await mailboxes.of(accountId).ask('sendAutomaticMail', about);
    const { outboundId, over, limit, isWaiting } = reply ?? {};
    if (over !== undefined && isWaiting === true) throw new LimitReached(over, to.length, limit);
    if (over === undefined)
      log.info({ accountId, dueId, kind, to, outboundId }, 'mail was queued because mail arrived');
    else {
      meter?.kept(over, 1);
      log.warn({ accountId, dueId, to, over }, 'the account keeps mail that it would send on: its limit is reached');
    }
  }

  /** The account then waits behind the others, if more is due. */
  async function work(accountId: string, { signal, failures }: WorkAttempt): Promise<number | undefined> {
    const all = (await mailboxes.of(accountId).ask('dueAutomaticMail', {})).reply?.due ?? [];
    // Another version may know further kinds.
    const due = all.filter(({ kind }) => write[kind] !== undefined);
    let sent = 0;
    const faults: unknown[] = [];
    for (const mail of due) {
      if (signal.aborted) return undefined;
      if (sent === IN_A_ROW) return 0;
      if (mayWait(mail) && wouldWait(mail.targets.length, faults)) continue;
      // A message that cannot be read now does not stop the others.
      await send(accountId, mail, failures).then(
        () => sent++,
        (error: unknown) => faults.push(error),
      );
    }
    if (faults.length > 0) throw faults[0];
    return due.length > 0 ? 0 : undefined;
  }

  const accounts = new WorkQueue({
    work,
    failed(accountId, err) {
      if (!isGone(err)) log.warn({ accountId, err }, 'mail that is due because mail arrived waits');
    },
    isTemporary: (error) => !isGone(error),
    workers: AT_ONCE,
    most: MOST_WAITING,
    backoff: { firstMs: retryMs, longestMs: LONGEST_RETRY_MS },
  });
  const looks = look && startLooks({ ...look, failed: LOOK_FAILED }, accounts, log);
  return {
    note: (accountId) => void accounts.add(accountId),
    kept(accountId, count) {
      meter?.kept('due', count);
      log.warn({ accountId, count }, 'the account keeps mail that it would send on: too much is due');
    },
    async stop() {
      await Promise.all([looks?.stop(), accounts.stop()]);
    },
  };
}

const isGone = (error: unknown) => error instanceof ActorFault && error.code === 'no-such-account';

/** A message to as many recipients as one that waits would wait as well, unless no wait helps it. */
const wouldWait = (recipients: number, faults: readonly unknown[]): boolean =>
  faults.some((fault) => fault instanceof LimitReached && recipients >= fault.recipients && recipients <= fault.limit);

/** Nothing is sent of old mail that cannot be written; the account gets it. @throws `err` when it is tried again, StoreFault */
async function givenUp(
  { blobs, log }: AutomaticMailOptions,
  { accountId, due, failures, err }: Fault,
): Promise<{ readonly skip: string; readonly arrived?: MessageSummary }> {
  // The store may be away just now, although the message is old.
  if (failures === 0 || clock.now() - due.receivedAt < GIVE_UP_MS) throw err;
  // Without its index the message cannot be placed either.
  const index = isForElsewhere(due) ? await blobs.index(due.blob) : undefined;
  const about = { accountId, dueId: due.id, kind: due.kind, err };
  log.warn(about, 'mail that is due because mail arrived could not be written for a day');
  return { skip: 'it could not be written', ...(index !== undefined && { arrived: summarize(index) }) };
}

interface Fault {
  readonly accountId: string;
  readonly due: DueMail;
  /** Those of the account before. */
  readonly failures: number;
  readonly err: unknown;
}

const envelopeOf = ({ sender, to, reportTo, isPartial = false }: WrittenMail) => ({
  ...{ sender, recipients: addressed(...to), reportTo },
  ...(isPartial && { isPartial }),
});
