// Saves what is being written: a moment after the last change, or at once when it is left. One save at a time, so that the newest counts.

const MOMENT_MS = 600;

export class DelayedSave<T> {
  readonly #save: (value: T) => Promise<unknown>;
  readonly #momentMs: number;
  #pending: { readonly value: T } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(save: (value: T) => Promise<unknown>, momentMs = MOMENT_MS) {
    this.#save = save;
    this.#momentMs = momentMs;
  }

  change(value: T): void {
    this.#pending = { value };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), this.#momentMs);
  }

  /** What was changed before is not to be saved. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#pending = undefined;
  }

  /** Resolves when everything is saved, or has failed to be. */
  flush(): Promise<unknown> {
    clearTimeout(this.#timer);
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending !== undefined) {
      this.#last = this.#last.then(() => this.#save(pending.value)).catch(() => undefined);
    }
    return this.#last;
  }
}
