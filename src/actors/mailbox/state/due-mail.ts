// The due automatic mail of a transaction (docs/decisions/0097) as if the batch so far were committed.
import type { Change, ChangeContent } from '../../../store/changes/changes.js';
import type { DueMail } from '../../../store/mailbox-rows.js';
import type { Forwarding } from '../../../store/preferences.js';
import type { MailboxState } from './state.js';
import { VacationChanges } from './vacation-replies.js';

/** What is known of a message of which mail becomes due. */
export type DueContent = Omit<DueMail, 'id' | 'isQueued'>;

export class DueMailChanges {
  readonly #state: MailboxState;
  readonly #record: (change: ChangeContent) => void;
  readonly #otherId: () => string;
  /** Undefined: ended. */
  readonly #written = new Map<string, DueMail | undefined>();
  readonly vacation: VacationChanges;
  #forwarding: Forwarding;

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

  /** The commit that places a message calls this: the mail is sent after it, once. */
  add(content: DueContent): void {
    this.put({ ...content, id: this.#otherId(), isQueued: false });
  }

  put(due: DueMail): void {
    this.#record({ type: 'AutomaticMailDue', payload: { due } });
  }

  end({ id, blob }: DueMail): void {
    this.#record({ type: 'AutomaticMailEnded', payload: { id, blob } });
  }

  apply(change: Change): void {
    this.vacation.apply(change);
    if (change.type === 'AutomaticMailDue') this.#written.set(change.payload.due.id, change.payload.due);
    else if (change.type === 'AutomaticMailEnded') this.#written.set(change.payload.id, undefined);
    else if (change.type === 'PreferencesChanged')
      this.#forwarding = (change.payload.chosen['forwarding'] as Forwarding | undefined) ?? this.#forwarding;
  }
}
