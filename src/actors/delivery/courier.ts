// Port: who carries a message to the recipients of one domain, and what became of each. The queue decides when and what is
// tried again; a courier makes one attempt, over as many hosts as it takes, within bounded time.
import type { DeliveryAttempt } from '../../store/outbound.js';

export interface DeliveryTask {
  readonly accountId: string;
  readonly outboundId: string;
  /** Of the envelope; '' is the null sender. */
  readonly sender: string;
  /** Of all recipients; lower case, A-labels. */
  readonly domain: string;
  readonly recipients: readonly { readonly id: string; readonly address: string }[];
  readonly blob: string;
  /** Octets of the blob. */
  readonly size: number;
  /** Ends the attempt when the node stops: what has not got a reply yet is temporary. */
  readonly signal: AbortSignal;
  /** Told when the task waits for a connection to become free, and when that is over. */
  readonly waits?: (isWaiting: boolean) => void;
}

interface Answer {
  readonly recipientId: string;
  /** The remote's reply, or what went wrong instead of one; one line. */
  readonly text: string;
  /** Enhanced status code (RFC 3463), made from the reply code when the remote gave none. */
  readonly statusCode: string;
  /** Who said it; null when nobody was reached. */
  readonly host: string | null;
}

export type RecipientOutcome =
  | (Answer & {
      readonly kind: 'delivered';
      /** The mailbox of this store that gets it: the sender's commit hands it over. Absent when a remote host took it. */
      readonly handedTo?: string;
    })
  | (Answer & { readonly kind: 'temporary' })
  | (Answer & { readonly kind: 'permanent' });

export interface DeliveryReport {
  /** One for every recipient of the task but those for whom there was no attempt, because no connection was free. */
  readonly outcomes: readonly RecipientOutcome[];
  /** For the timeline, in the order in which they were made. */
  readonly attempts: readonly DeliveryAttempt[];
}

export interface Courier {
  /** Never rejects for what the remote does: that is in the report. @throws StoreFault when the message cannot be read */
  deliver(task: DeliveryTask): Promise<DeliveryReport>;
}
