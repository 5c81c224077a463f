// Which answers of the server show a choice that is changed meanwhile: one that was read before a change, or during it, may lack the change.

export class ReadChoice {
  #changes = 0;
  #saving = 0;

  /** Call it when a read begins. The function tells whether what was read is as new as what is shown. */
  read(): () => boolean {
    const before = this.#changes;
    return () => this.#saving === 0 && this.#changes === before;
  }

  /** Returns what `save` does. */
  async change<T>(save: () => Promise<T>): Promise<T> {
    this.#saving++;
    try {
      return await save();
    } finally {
      this.#saving--;
      this.#changes++;
    }
  }
}
