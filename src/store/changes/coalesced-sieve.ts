// The coalesced changes of Sieve scripts: of several changes of a script the last one counts.
import type { SieveScriptRow } from '../mailbox-rows.js';
import type { ChangeOf } from './changes.js';

type SieveChange = ChangeOf<'SieveScriptStored' | 'SieveScriptDeleted' | 'SieveScriptActivated'>;

export interface CoalescedSieve {
  /** New and changed scripts. */
  readonly scripts: readonly SieveScriptRow[];
  /** Names of deleted scripts, some of which may never have been stored. */
  readonly removed: readonly string[];
  /** The name of the active script, null for none; absent when that did not change. */
  readonly active?: string | null;
}

export class SieveCoalescer {
  readonly #scripts = new Map<string, SieveScriptRow>();
  readonly #removed = new Set<string>();
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
    }
  }

  result(): CoalescedSieve {
    return {
      scripts: [...this.#scripts.values()],
      removed: [...this.#removed],
      ...(this.#active !== undefined && { active: this.#active }),
    };
  }
}
