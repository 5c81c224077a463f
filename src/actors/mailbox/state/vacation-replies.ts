// The vacation of a transaction, and the senders who have got a reply (decision 0099), as if the batch so far were committed. A script may
// answer too; its replies count by their handle.
import type { Change, ChangeContent } from '../../../store/changes/changes.js';
import { isAway, type Vacation } from '../../../store/vacation.js';
import type { MailboxState } from './state.js';

/** The senders that are remembered; the one that may get another reply first leaves for another. */
const MOST_ANSWERED = 5_000;
/** Due mail of an account beyond which nothing more is answered. */
const MOST_DUE = 1_000;
const DAY_MS = 86_400_000;

/** A vacation of a script, whose replies with one handle count together (RFC 5230 §4.2). */
export interface CountedReplies {
  readonly handle: string;
  /** A sender gets one answer in this many days. */
  readonly days: number;
}

export class VacationChanges {
  readonly #state: Pick<MailboxState, 'vacation' | 'answered' | 'dueMail'>;
  readonly #record: (change: ChangeContent) => void;
  /** Null: forgotten. */
  readonly #written = new Map<string, number | null>();
  #settings: Vacation;

  constructor(state: Pick<MailboxState, 'vacation' | 'answered' | 'dueMail'>, record: (change: ChangeContent) => void) {
    this.#state = state;
    this.#record = record;
    this.#settings = state.vacation;
  }

  /** Whether further mail of the account may wait to be answered. */
  get hasRoom(): boolean {
    return this.#state.dueMail.size < MOST_DUE;
  }

  /**
   * Whether a sender gets a reply now, as far as the vacation is concerned: by the account while it is away, and by a script otherwise.
   * `sender`: see `answeredKey`.
   */
  mayAnswer(sender: string, now: number, script?: CountedReplies): boolean {
    if (isAway(this.#settings, now) !== (script === undefined) || !this.hasRoom) return false;
    const key = this.#keyOf(sender, script);
    const until = this.#written.has(key) ? this.#written.get(key) : this.#state.answered.get(key);
    return until == null || until <= now;
  }

  /** Remembers a sender who gets a reply. */
  answer(sender: string, now: number, script?: CountedReplies): void {
    const key = this.#keyOf(sender, script);
    const kept = this.#state.answered.entries().filter(([one]) => !this.#written.has(one));
    const most = MOST_ANSWERED - 1 - this.#written.size;
    const forgotten = kept.flatMap(([one, until], i) => (until <= now || kept.length - i > most ? [one] : []));
    const until = now + (script?.days ?? this.#settings.intervalDays) * DAY_MS;
    this.#record({ type: 'VacationAnswered', payload: { key, until, forgotten } });
  }

  apply(change: Change): void {
    if (change.type === 'PreferencesChanged')
      this.#settings = (change.payload.chosen['vacation'] as Vacation | undefined) ?? this.#settings;
    if (change.type !== 'VacationAnswered') return;
    const { key, until, forgotten } = change.payload;
    for (const one of forgotten) this.#written.set(one, null);
    this.#written.set(key, until);
  }

  #keyOf(sender: string, script: CountedReplies | undefined): string {
    return `${script === undefined ? this.#settings.period : `sieve:${script.handle}`} ${sender}`;
  }
}
