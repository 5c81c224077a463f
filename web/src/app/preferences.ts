// The preferences of the reader as the page shows them: those of the server, below those that were just chosen, so that a choice is seen at
// once. A choice that the server refuses is gone again.
import { batch, computed, signal } from '@preact/signals';
import type { MansioClient, PreferenceChanges, Preferences } from '../../../src/client/index.js';

export class PreferenceStore {
  /** As the server has told them; undefined until it has. */
  readonly stored = signal<Preferences | undefined>(undefined);
  readonly shown = computed(() => {
    const stored = this.stored.value;
    return stored && this.#choices.value.reduce(withChoice, stored);
  });
  readonly #client: Pick<MansioClient, 'request'>;
  /** What is not confirmed yet, oldest first. */
  readonly #choices = signal<readonly PreferenceChanges[]>([]);
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: Pick<MansioClient, 'request'>) {
    this.#client = client;
  }

  /**
   * Resolves when the server has stored the choice. Choices are sent one after the other, so that the last one counts.
   * @throws Refusal, NetworkFault
   */
  choose(choice: PreferenceChanges): Promise<void> {
    this.#choices.value = [...this.#choices.peek(), choice];
    const saved = this.#last.then(() => this.#save(choice));
    this.#last = saved.catch(() => undefined);
    return saved;
  }

  /** Nobody is signed in any more. */
  forget(): void {
    this.stored.value = undefined;
  }

  async #save(choice: PreferenceChanges): Promise<void> {
    let isSaved = false;
    try {
      await this.#client.request('PUT', '/api/preferences', { body: choice });
      isSaved = true;
    } finally {
      batch(() => {
        const stored = this.stored.peek();
        if (isSaved && stored !== undefined) this.stored.value = withChoice(stored, choice);
        this.#choices.value = this.#choices.peek().filter((one) => one !== choice);
      });
    }
  }
}

function withChoice(preferences: Preferences, choice: PreferenceChanges): Preferences {
  return { ...preferences, ...(choice as Partial<Preferences>) };
}
