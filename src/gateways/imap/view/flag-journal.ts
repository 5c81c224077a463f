// Which messages of a folder have changed, newest last: a session asks what was noted since it asked last. Bounded: a session
// that is too far behind looks at the modseq of each message instead.

/** UIDs that are kept of a folder of any size. */
const LEAST_KEPT = 1000;

export class FlagJournal {
  readonly #notes: Uint32Array[] = [];
  #firstNumber = 0;
  #uidCount = 0;

  /** The number that the next note will have. */
  get end(): number {
    return this.#firstNumber + this.#notes.length;
  }

  /** `present`: messages of the folder. */
  add(uids: Uint32Array, present: number): void {
    if (uids.length === 0) return;
    const most = Math.max(LEAST_KEPT, present / 8);
    if (uids.length > most) {
      this.clear();
      return;
    }
    // A part of something larger would keep all of it.
    this.#notes.push(uids.byteLength < uids.buffer.byteLength ? uids.slice() : uids);
    this.#uidCount += uids.length;
    while (this.#uidCount > most) this.#forgetFirst();
  }

  /** Whoever asks for earlier notes must look at all messages. */
  clear(): void {
    this.#firstNumber = this.end + 1;
    this.#notes.length = 0;
    this.#uidCount = 0;
  }

  /** Whether all notes from this number on are there. */
  reaches(number: number): boolean {
    return number >= this.#firstNumber;
  }

  notesFrom(number: number): readonly Uint32Array[] {
    return this.#notes.slice(number - this.#firstNumber);
  }

  #forgetFirst(): void {
    this.#uidCount -= this.#notes.shift()!.length;
    this.#firstNumber++;
  }
}
