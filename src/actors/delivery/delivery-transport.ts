// Port: delivers a message to the recipients of one domain, and returns the outcome for each. The scheduler decides when a task runs and
// when it may connect; a transport makes one attempt, over as many hosts as needed, within bounded time.

import type { DsnRequest, RecipientDsnRequest } from '../../mail-format/reports/dsn-request.js';
import type { SentOnward } from '../../mail-format/sent-onward.js';
import type { DeliveryAttempt } from '../../store/outbound.js';

export interface DeliveryTask {
  readonly accountId: string;
  readonly outboundId: string;
  /** The sender of the envelope; '' is the null sender. */
  readonly sender: string;
  /** The domain of all recipients; lower case, A-labels. */
  readonly domain: string;
  readonly recipients: readonly {
    readonly id: string;
    readonly address: string;
    /** The host that may have accepted the message in an earlier attempt: the hosts after it are tried first. */
    readonly doubtfulHost?: string | undefined;
    readonly dsn?: RecipientDsnRequest | undefined;
  }[];
  /** The DSN request of the sender; absent or null without one. */
  readonly dsn?: DsnRequest | null | undefined;
  readonly blob: string;
  /** Octets of the message. */
  readonly size: number;
  /** Aborts the attempt when the node stops: recipients without a reply are temporary. */
  readonly signal: AbortSignal;
  /**
   * Requests a permit to have a connection to the host (an IP address); returns a promise if the task must wait. Undefined when no permit
   * was free in time.
   */
  readonly connect: (
    host: string,
    signal: AbortSignal,
  ) => Promise<ConnectionPermit | undefined> | ConnectionPermit | undefined;
}

export interface ConnectionPermit {
  /** Must be called once. `mayStay`: the connection is kept for another message to the same host. */
  leave(mayStay: boolean): void;
}

/** The connections of a node that are in use at a time; idle ones make room for others. */
export const CONNECTIONS = 100;
export const CONNECTIONS_PER_HOST = 5;

interface Answer {
  readonly recipientId: string;
  /** The remote's reply, or the error that occurred instead; one line. */
  readonly text: string;
  /** Enhanced status code (RFC 3463); derived from the reply code if the remote gave none. */
  readonly statusCode: string;
  /** The host that replied; null when none was reached. */
  readonly host: string | null;
}

export type RecipientOutcome =
  | (Answer & {
      readonly kind: 'delivered';
      /** The accounts of this store that get the message in the sender's commit. Absent when a remote host accepted the message. */
      readonly localAccountIds?: readonly string[];
      /** What the message is for some of these accounts, by their ids. */
      readonly localOnward?: Readonly<Record<string, SentOnward>>;
      /** How a remote host accepted it: with the DSN request, or without, because it does not support DSN (RFC 3461 §5.2). */
      readonly onward?: 'passed' | 'relayed';
    })
  | (Answer & {
      readonly kind: 'temporary';
      /** The host that got the whole message but did not confirm that it accepted the message. */
      readonly doubtfulHost?: string;
    })
  | (Answer & { readonly kind: 'permanent' });

export interface DeliveryReport {
  /** One outcome per recipient, except recipients that were not tried because no connection was free. */
  readonly outcomes: readonly RecipientOutcome[];
  /** Attempts for the timeline, in the order in which they were made. */
  readonly attempts: readonly DeliveryAttempt[];
}

export interface DeliveryTransport {
  /**
   * The name of what the delivery shares with others, and waits for: the domain, or the smart host that its mail passes. The domain when
   * absent. @throws StoreFault
   */
  destinationOf?(mail: Pick<DeliveryTask, 'sender' | 'domain' | 'recipients'>): Promise<string>;
  /** Does not reject for errors of the remote: the report contains them. @throws StoreFault when the message cannot be read */
  deliver(task: DeliveryTask): Promise<DeliveryReport>;
}

/**
 * The accounts that get the message with this outcome: each is given it once, though several recipients lead to it. `takers` has those that
 * have got it, and is added to.
 */
export function placedOnce(
  { localAccountIds = [], localOnward = {} }: Extract<RecipientOutcome, { kind: 'delivered' }>,
  takers: Set<string>,
): Required<Pick<Extract<RecipientOutcome, { kind: 'delivered' }>, 'localAccountIds' | 'localOnward'>> {
  const onward: Record<string, SentOnward> = {};
  const further: string[] = [];
  for (const accountId of localAccountIds) {
    const asked = localOnward[accountId];
    const isPlaced = (asked === undefined || asked.isPlaced) && !takers.has(accountId);
    if (!isPlaced && asked === undefined) continue;
    further.push(accountId);
    if (asked !== undefined) onward[accountId] = { targets: asked.targets, isPlaced };
    if (isPlaced) takers.add(accountId);
  }
  return { localAccountIds: further, localOnward: onward };
}
