// The vacation of a transaction, and the senders who have got a reply (decision 0099), as if the batch so far were committed. A script may
// answer too; its replies count by their handle.
import { answeredKey } from '../../../mail-format/reports/automatic-reply.js';
import type { Change, ChangeContent } from '../../../store/changes/changes.js';
import { isAway, type Vacation } from '../../../store/vacation.js';
import { RememberedKeys } from './remembered-keys.js';
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
  readonly #answered: RememberedKeys;
  #settings: Vacation;

  constructor(state: Pick<MailboxState, 'vacation' | 'answered' | 'dueMail'>, record: (change: ChangeContent) => void) {
    this.#state = state;
    this.#record = record;
    this.#answered = new RememberedKeys(state.answered, MOST_ANSWERED);
    this.#settings = state.vacation;
  }

  /** Whether further mail of the account may wait to be answered. */
  get hasRoom(): boolean {
    return this.#state.dueMail.size < MOST_DUE;
  }

  /**
   * Whether a sender gets a reply now, as far as the vacation is concerned: by the account while it is away, and by a script otherwise.
   * `sender`: of the envelope.
   */
  mayAnswer(sender: string, now: number, script?: CountedReplies): boolean {
    if (isAway(this.#settings, now) !== (script === undefined) || !this.hasRoom) return false;
    return !this.#answered.has(this.#keyOf(sender, script), now);
  }

  /** Remembers a sender who gets a reply. `sender`: of the envelope. */
  answer(sender: string, now: number, script?: CountedReplies): void {
    const key = this.#keyOf(sender, script);
    const until = now + (script?.days ?? this.#settings.intervalDays) * DAY_MS;
    this.#record({ type: 'VacationAnswered', payload: this.#answered.change(key, until, now) });
  }

  apply(change: Change): void {
    if (change.type === 'PreferencesChanged')
      this.#settings = (change.payload.chosen['vacation'] as Vacation | undefined) ?? this.#settings;
    if (change.type === 'VacationAnswered') this.#answered.apply(change.payload);
  }

  #keyOf(sender: string, script: CountedReplies | undefined): string {
    return `${script === undefined ? this.#settings.period : `sieve:${script.handle}`} ${answeredKey(sender)}`;
  }
}
