// What became of each recipient of a task so far. A host's answer to RCPT, DATA or the message is final when it is delivered or
// permanent; everything else stands only until another host says something better.
import type { RecipientOutcome } from '../actors/delivery/courier.js';
import { judgeFault, type Verdict } from '../mail/delivery-status.js';

interface Standing {
  readonly verdict: Verdict;
  readonly host: string | null;
}

export interface TaskRecipient {
  readonly ids: readonly string[];
  /** As in the envelope. */
  readonly address: string;
}

export class RecipientResults {
  readonly #pending: Set<TaskRecipient>;
  readonly #standing = new Map<TaskRecipient, Standing>();
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

  /** No connection was free: those of whom nothing is known were not tried. */
  postpone(): void {
    this.#isPostponed = true;
  }

  settle(addressee: TaskRecipient, verdict: Verdict, host: string | null): void {
    this.#pending.delete(addressee);
    this.#standing.set(addressee, { verdict, host });
  }

  /** Holds for the addressee unless another host does better. */
  note(addressee: TaskRecipient, verdict: Verdict, host: string | null): void {
    const known = this.#standing.get(addressee)?.verdict;
    // A host that might take it later outweighs one that never will.
    if (known?.kind === 'temporary' && verdict.kind === 'permanent') return;
    this.#standing.set(addressee, { verdict, host });
  }

  noteAll(verdict: Verdict, host: string | null): void {
    for (const addressee of this.#pending) this.note(addressee, verdict, host);
  }

  settleAll(verdict: Verdict, host: string | null): void {
    for (const addressee of this.#pending) this.settle(addressee, verdict, host);
  }

  /** Of all but those that were postponed. */
  outcomes(): RecipientOutcome[] {
    const unheard = { verdict: judgeFault('ended', 'the attempt ended before it was its turn'), host: null };
    const settled = new Map(this.#standing);
    const unknown = this.#isPostponed ? [] : [...this.#pending].filter((addressee) => !settled.has(addressee));
    for (const addressee of unknown) settled.set(addressee, unheard);
    return [...settled].flatMap(([{ ids }, { verdict, host }]) =>
      ids.map((recipientId) => ({ recipientId, ...verdict, host })),
    );
  }
}
