// The coalesced changes of Sieve scripts, and of the keys that they track: of several changes of one the last one counts.
import type { RememberedKey, SieveScriptRow } from '../mailbox-rows.js';
import type { ChangeOf } from './changes.js';

type SieveChange = ChangeOf<'SieveScriptStored' | 'SieveScriptDeleted' | 'SieveScriptActivated' | 'SieveKeyTracked'>;

export interface CoalescedSieve {
  /** New and changed scripts. */
  readonly scripts: readonly SieveScriptRow[];
  /** Names of deleted scripts, some of which may never have been stored. */
  readonly removed: readonly string[];
  /** The name of the active script, null for none; absent when that did not change. */
  readonly active?: string | null;
  /** Keys that the `duplicate` test tracks. */
  readonly tracked: readonly RememberedKey[];
  /** Keys that are not tracked any more, some of which may never have been stored. */
  readonly untracked: readonly string[];
}

export class SieveCoalescer {
  readonly #scripts = new Map<string, SieveScriptRow>();
  readonly #removed = new Set<string>();
  readonly #tracked = new Map<string, RememberedKey>();
  readonly #untracked = new Set<string>();
  #active: string | null | undefined;

  take(change: SieveChange): void {
    switch (change.type) {
      case 'SieveScriptStored':
        this.#scripts.set(change.payload.name, change.payload);
        this.#removed.delete(change.payload.name);
        return;
      case 'SieveScriptDeleted':
        this.#scripts.delete(change.payload.name);
        this.#removed.add(change.payload.name);
        return;
      case 'SieveScriptActivated':
        this.#active = change.payload.name;
        return;
      case 'SieveKeyTracked':
        this.#track(change.payload);
        return;
    }
  }

  #track({ key, until, forgotten }: ChangeOf<'SieveKeyTracked'>['payload']): void {
    for (const one of forgotten) {
      this.#tracked.delete(one);
      this.#untracked.add(one);
    }
    this.#untracked.delete(key);
    this.#tracked.delete(key);
    this.#tracked.set(key, { key, until });
  }

  result(): CoalescedSieve {
    return {
      scripts: [...this.#scripts.values()],
      removed: [...this.#removed],
      tracked: [...this.#tracked.values()],
      untracked: [...this.#untracked],
      ...(this.#active !== undefined && { active: this.#active }),
    };
  }
}
