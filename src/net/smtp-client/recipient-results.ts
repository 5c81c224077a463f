// The current outcome of each recipient of a task. A host's reply to RCPT, DATA or the message is final when it is delivered or permanent;
// any other outcome holds until another host gives a better one.
import type { RecipientOutcome } from '../../actors/delivery/delivery-transport.js';
import { type DeliveryStatus, faultStatus } from '../../mail-format/reports/delivery-status.js';
import type { RecipientDsnRequest } from '../../mail-format/reports/dsn-request.js';

interface Result {
  readonly status: DeliveryStatus;
  readonly host: string | null;
  readonly isDoubtful?: boolean;
  readonly onward?: 'passed' | 'relayed';
}

export interface TaskRecipient {
  readonly ids: readonly string[];
  /** The address as it stands in the envelope. */
  readonly address: string;
  readonly dsn?: RecipientDsnRequest | undefined;
}

export class RecipientResults {
  readonly #pending: Set<TaskRecipient>;
  readonly #results = new Map<TaskRecipient, Result>();
  #isPostponed = false;

  constructor(addressees: readonly TaskRecipient[]) {
    this.#pending = new Set(addressees);
  }

  get pending(): readonly TaskRecipient[] {
    return [...this.#pending];
  }

  get isOver(): boolean {
    return this.#pending.size === 0 || this.#isPostponed;
  }

  /** Called when no connection was free: recipients without an outcome were not tried. */
  postpone(): void {
    this.#isPostponed = true;
  }

  /** `onward`: how a host that accepted the message handles DSN. */
  settle(
    addressee: TaskRecipient,
    status: DeliveryStatus,
    host: string | null,
    onward: 'passed' | 'relayed' = 'relayed',
  ): void {
    this.#pending.delete(addressee);
    this.#results.set(addressee, { status, host, ...(status.kind === 'delivered' && { onward }) });
  }

  /** Holds for the addressee unless another host gives a better outcome. `isDoubtful`: the host may have accepted the message. */
  note(addressee: TaskRecipient, status: DeliveryStatus, host: string | null, isDoubtful = false): void {
    const known = this.#results.get(addressee)?.status;
    // A host that may accept it later outweighs one that never will.
    if (known?.kind === 'temporary' && status.kind === 'permanent') return;
    this.#results.set(addressee, { status, host, isDoubtful });
  }

  noteAll(status: DeliveryStatus, host: string | null): void {
    for (const addressee of this.#pending) this.note(addressee, status, host);
  }

  settleAll(status: DeliveryStatus, host: string | null): void {
    for (const addressee of this.#pending) this.settle(addressee, status, host);
  }

  /** Returns the outcomes of all recipients except those that were postponed. */
  outcomes(): RecipientOutcome[] {
    const untried = { status: faultStatus('ended', 'the attempt ended before it was its turn'), host: null };
    const settled = new Map<TaskRecipient, Result>(this.#results);
    const unknown = this.#isPostponed ? [] : [...this.#pending].filter((addressee) => !settled.has(addressee));
    for (const addressee of unknown) settled.set(addressee, untried);
    return [...settled].flatMap(([{ ids }, { status, host, isDoubtful, onward }]) =>
      ids.map((recipientId) => ({
        recipientId,
        ...status,
        host,
        ...(onward !== undefined && { onward }),
        ...(isDoubtful === true && host !== null && { doubtfulHost: host }),
      })),
    );
  }
}
