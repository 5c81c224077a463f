// Port: accepted mail that waits for its mailbox. A row here is the promise behind SMTP's 250: only the commit that places the
// email deletes it, so a message is delivered once however often the delivery is tried.
import type { Bounce } from '../mail-format/reports/bounce.js';
import type { BounceSource } from '../mail-format/reports/bounce-source.js';
import type { SentOnward } from '../mail-format/sent-onward.js';
import type { MessageSummary } from '../mail-format/summary.js';
import type { BlobContent } from './blobs.js';

export interface InboundDelivery {
  readonly accountId: string;
  /** UUID; identifies the delivery from the log line of SMTP to the commit. */
  readonly id: string;
  /**
   * The account's mailbox was asked to place the message before it was stored, and has not answered: it may place it, or may have done so.
   * The row is deleted and places nothing if the delivery is among the remembered replies (docs/decisions/0077).
   */
  readonly isTried?: boolean;
  /** The address that was written to; absent when it is unknown. */
  readonly recipient?: string;
  /** Addresses elsewhere that get the message on behalf of the account. */
  readonly onward?: SentOnward;
}

/** What is stored of a delivery apart from its ids; undefined when there is nothing. */
export function detailOf({
  recipient,
  onward,
}: Pick<InboundDelivery, 'recipient' | 'onward'>): Pick<InboundDelivery, 'recipient' | 'onward'> | undefined {
  if (recipient === undefined && onward === undefined) return undefined;
  return { ...(recipient !== undefined && { recipient }), ...(onward !== undefined && { onward }) };
}

/** A bounce and its source. */
interface ReturnedMail extends Bounce {
  readonly source: BounceSource;
}

/** What the mailbox needs to place the email. */
export interface InboundEnvelope {
  /** ms since the epoch. */
  readonly receivedAt: number;
  readonly summary: MessageSummary;
  /** The envelope sender, '' for the null sender; absent in rows of version 0.2.0, and for mail that the server itself has written. */
  readonly sender?: string;
  /** The message is suspect: it goes to Junk. */
  readonly isJunk?: boolean;
  /** Only the content makes it suspect; its author is not in doubt. */
  readonly isContentJunk?: boolean;
  /** SPF, DKIM or DMARC shows that the mail comes from the domain of its only author. */
  readonly isAuthorProven?: boolean;
  /** The message reports that another message was not delivered. */
  readonly bounce?: ReturnedMail;
  /** W3C trace context of the message, when it is traced. */
  readonly trace?: string;
}

export interface PendingInbound extends InboundDelivery {
  readonly blob: string;
  readonly envelope: InboundEnvelope;
}

export interface InboundStore {
  /** Commits the blob and one row per delivery, all or nothing. @throws StoreFault, temporary when an account is gone */
  spool(content: BlobContent, envelope: InboundEnvelope, deliveries: readonly InboundDelivery[]): Promise<void>;
  /** Rows older than `minAgeMs` of accounts on these shards without those in `except`, oldest first. */
  overdue(
    shards: readonly number[],
    minAgeMs: number,
    limit: number,
    except: readonly string[],
  ): Promise<readonly PendingInbound[]>;
  /**
   * Deletes the row of a delivery that its mailbox has carried out, if there is one: a statement that arrived late may have added the row of
   * a tried delivery again.
   */
  end(delivery: InboundDelivery): Promise<void>;
}

/** Which accounts have mail that is due because mail arrived (docs/decisions/0097). Their mailboxes write and send it. */
export interface AutomaticMailStore {
  /** The accounts on these shards with mail that is due and not queued. */
  accountsDue(shards: readonly number[], limit: number): Promise<readonly string[]>;
}
