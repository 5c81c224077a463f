// The due automatic mail of a transaction (docs/decisions/0097) as if the batch so far were committed.
import type { Change, ChangeContent } from '../../../store/changes/changes.js';
import type { JunkLesson } from '../../../store/feedback/junk-lessons.js';
import type { DueMail } from '../../../store/mailbox-rows.js';
import type { Forwarding } from '../../../store/preferences.js';
import type { MailboxState } from './state.js';
import { VacationChanges } from './vacation-replies.js';

/** The most rows of an account: beyond them it keeps what it would send on. */
const MOST_DUE = 1_000;

/** What is known of a message of which mail becomes due. */
export type DueContent = Omit<DueMail, 'id' | 'isQueued'>;

export class DueMailChanges {
  readonly #state: MailboxState;
  readonly #record: (change: ChangeContent) => void;
  readonly #otherId: () => string;
  /** Undefined: ended. */
  readonly #written = new Map<string, DueMail | undefined>();
  readonly vacation: VacationChanges;
  /** What the batch teaches the junk filter: no record, because the mailbox itself does not change. */
  readonly lessons: JunkLesson[] = [];
  #forwarding: Forwarding;
  /** Rows that the batch adds, less those that it ends. */
  #further = 0;
  #kept = 0;

  constructor(state: MailboxState, record: (change: ChangeContent) => void, otherId: () => string) {
    this.#state = state;
    this.#record = record;
    this.#otherId = otherId;
    this.#forwarding = state.forwarding;
    this.vacation = new VacationChanges(state, record);
  }

  get forwarding(): Forwarding {
    return this.#forwarding;
  }

  get(id: string): DueMail | undefined {
    return this.#written.has(id) ? this.#written.get(id) : this.#state.dueMail.get(id);
  }

  /** Messages that the account keeps because too much is due. */
  get kept(): number {
    return this.#kept;
  }

  /** Whether a further message may become due; otherwise the account keeps it, which is counted. */
  hasRoom(): boolean {
    const hasRoom = this.#state.dueMail.size + this.#further < MOST_DUE;
    if (!hasRoom) this.#kept++;
    return hasRoom;
  }

  /** The commit that places a message calls this: the mail is sent after it, once. Nothing is added twice with one id. */
  add(content: DueContent, id = this.#otherId()): void {
    if (this.get(id) === undefined) this.put({ ...content, id, isQueued: false });
  }

  put(due: DueMail): void {
    this.#record({ type: 'AutomaticMailDue', payload: { due } });
  }

  end({ id, blob }: DueMail): void {
    this.#record({ type: 'AutomaticMailEnded', payload: { id, blob } });
  }

  apply(change: Change): void {
    this.vacation.apply(change);
    if (change.type === 'AutomaticMailDue') {
      const { due } = change.payload;
      if (this.get(due.id) === undefined) this.#further++;
      this.#written.set(due.id, due);
    } else if (change.type === 'AutomaticMailEnded') {
      if (this.get(change.payload.id) !== undefined) this.#further--;
      this.#written.set(change.payload.id, undefined);
    } else if (change.type === 'PreferencesChanged')
      this.#forwarding = (change.payload.chosen['forwarding'] as Forwarding | undefined) ?? this.#forwarding;
  }
}
