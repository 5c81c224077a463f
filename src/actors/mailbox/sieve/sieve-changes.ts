// The Sieve scripts of a transaction and the keys that they track, as if the batch so far were committed.
import type { ChangeContent, ChangeOf } from '../../../store/changes/changes.js';
import { RememberedKeys } from '../state/remembered-keys.js';
import type { MailboxState } from '../state/state.js';
import type { SieveScripts } from './sieve-scripts.js';

/** The keys of an account that are tracked. */
const MOST_TRACKED = 5_000;

export class SieveChanges {
  readonly #state: MailboxState;
  readonly #record: (change: ChangeContent) => void;
  readonly #tracked: RememberedKeys;
  /** Undefined until the batch changes a script; the state's scripts are valid until then. */
  #scripts: SieveScripts | undefined;

  constructor(state: MailboxState, record: (change: ChangeContent) => void) {
    this.#state = state;
    this.#record = record;
    this.#tracked = new RememberedKeys(state.sieveKeys, MOST_TRACKED);
  }

  get scripts(): Omit<SieveScripts, 'set' | 'delete' | 'activate'> {
    return this.#scripts ?? this.#state.sieve;
  }

  /** Adds a script, or replaces its content. */
  put(name: string, content: string): void {
    this.#record({ type: 'SieveScriptStored', payload: { name, content } });
  }

  /** The script must not be the active one. */
  remove(name: string): void {
    this.#record({ type: 'SieveScriptDeleted', payload: { name } });
  }

  /** null: no script is active. */
  activate(name: string | null): void {
    this.#record({ type: 'SieveScriptActivated', payload: { name } });
  }

  /** Whether an earlier delivery has tracked the key (RFC 7352). */
  isTracked(key: string, now: number): boolean {
    return this.#tracked.has(key, now);
  }

  /** Times in ms since the epoch. */
  track(key: string, until: number, now: number): void {
    this.#record({ type: 'SieveKeyTracked', payload: this.#tracked.change(key, until, now) });
  }

  apply(
    change: ChangeOf<'SieveScriptStored' | 'SieveScriptDeleted' | 'SieveScriptActivated' | 'SieveKeyTracked'>,
  ): void {
    if (change.type === 'SieveKeyTracked') {
      this.#tracked.apply(change.payload);
      return;
    }
    this.#scripts ??= this.#state.sieve.copy();
    const { payload } = change;
    if ('content' in payload) this.#scripts.set(payload.name, payload.content);
    else if (change.type === 'SieveScriptActivated') this.#scripts.activate(change.payload.name);
    else this.#scripts.delete(change.payload.name!);
  }
}
