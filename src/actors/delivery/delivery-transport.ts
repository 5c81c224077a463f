// Port: delivery of a message to the recipients of one domain, and the outcome for each. The scheduler decides when a task runs
// and when it may connect; a transport makes one attempt, over as many hosts as it takes, within bounded time.
import type { DsnRequest, RecipientDsnRequest } from '../../mail/dsn-request.js';
import type { DeliveryAttempt } from '../../store/outbound.js';

export interface DeliveryTask {
  readonly accountId: string;
  readonly outboundId: string;
  /** Of the envelope; '' is the null sender. */
  readonly sender: string;
  /** Of all recipients; lower case, A-labels. */
  readonly domain: string;
  readonly recipients: readonly {
    readonly id: string;
    readonly address: string;
    /** The host that may have taken the message in an earlier attempt: the hosts after it are tried first. */
    readonly doubtfulHost?: string | undefined;
    readonly dsn?: RecipientDsnRequest | undefined;
  }[];
  /** What the sender asks to be told; absent or null when nothing was asked. */
  readonly dsn?: DsnRequest | null | undefined;
  readonly blob: string;
  /** Octets of the blob. */
  readonly size: number;
  /** Ends the attempt when the node stops: recipients without a reply are temporary. */
  readonly signal: AbortSignal;
  /**
   * Asks for a permit to have a connection to the host (an IP address): at once, or a promise where the task waits. Undefined when
   * none was free in time.
   */
  readonly connect: (
    host: string,
    signal: AbortSignal,
  ) => Promise<ConnectionPermit | undefined> | ConnectionPermit | undefined;
}

export interface ConnectionPermit {
  /** To be called once. `mayStay`: the connection is kept for another message to the same host. */
  leave(mayStay: boolean): void;
}

/** Connections of a node that are in use at the same time; those that are idle make room for others. */
export const CONNECTIONS = 100;
export const CONNECTIONS_PER_HOST = 5;

interface Answer {
  readonly recipientId: string;
  /** The remote's reply, or what went wrong instead of one; one line. */
  readonly text: string;
  /** Enhanced status code (RFC 3463), made from the reply code when the remote gave none. */
  readonly statusCode: string;
  /** The host that replied; null when none was reached. */
  readonly host: string | null;
}

export type RecipientOutcome =
  | (Answer & {
      readonly kind: 'delivered';
      /** The mailbox of this store that gets the message with the sender's commit. Absent when a remote host took it. */
      readonly localAccountId?: string;
      /** How a remote host took it: with the request for reports, or without, because it does not know DSN (RFC 3461 §5.2). */
      readonly onward?: 'passed' | 'relayed';
    })
  | (Answer & {
      readonly kind: 'temporary';
      /** The host got the whole message and did not say whether it took the message. */
      readonly doubtfulHost?: string;
    })
  | (Answer & { readonly kind: 'permanent' });

export interface DeliveryReport {
  /** One for every recipient of the task but those for whom there was no attempt, because no connection was free. */
  readonly outcomes: readonly RecipientOutcome[];
  /** For the timeline, in the order in which they were made. */
  readonly attempts: readonly DeliveryAttempt[];
}

export interface DeliveryTransport {
  /** Never rejects for what the remote does: that is in the report. @throws StoreFault when the message cannot be read */
  deliver(task: DeliveryTask): Promise<DeliveryReport>;
}
