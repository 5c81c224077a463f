// A message for several accounts that is not stored yet (docs/decisions/0055). Mailboxes of this node place it in separate
// commits. The statement of the first commit stores it, with an inbound row for each account whose mailbox does not place it in
// the same statement. Later commits delete these rows.
import type { BlobContent } from '../blobs.js';
import type { StoreFault } from '../errors.js';
import type { InboundDelivery, InboundEnvelope } from '../inbound.js';

/** The part of one account in a shared message, which the account's commit places. */
export interface SharedDelivery {
  readonly message: SharedMessage;
  /** Id of the inbound row, if there is one. */
  readonly id: string;
}

export class SharedMessage {
  /** The content can be read until `ended`. */
  readonly content: BlobContent;
  readonly envelope: InboundEnvelope;
  /** One delivery per account. */
  readonly deliveries: readonly InboundDelivery[];
  /** Whether the message is stored, for all accounts or none. Rejects with a StoreFault when that is unknown. */
  readonly ended: Promise<boolean>;
  #state: 'open' | 'stored' | 'unknown' | 'closed' = 'open';
  #resolve!: (isStored: boolean) => void;
  #reject!: (fault: StoreFault) => void;

  constructor(content: BlobContent, envelope: InboundEnvelope, deliveries: readonly InboundDelivery[]) {
    this.content = content;
    this.envelope = envelope;
    this.deliveries = deliveries;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Nothing of the message is stored, and a commit may store it. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** No commit may place the message any more: nothing of it is stored, or that is unknown. */
  get isClosed(): boolean {
    return this.#state === 'closed' || this.#state === 'unknown';
  }

  /** A statement has stored it. */
  stored(): void {
    this.#state = 'stored';
    this.#resolve(true);
  }

  /** A statement that stores it has failed, and it is unknown whether it was stored. */
  lost(): void {
    if (this.#state === 'open') this.#state = 'unknown';
  }

  /** Closes the message when no running commit places it: no later one may store it. `fault`: why one of the commits failed. */
  close(fault?: StoreFault): void {
    if (this.#state === 'open') this.#state = 'closed';
    if (fault === undefined) this.#resolve(false);
    else this.#reject(fault);
  }
}
