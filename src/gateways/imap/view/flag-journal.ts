// The messages of a folder that have changed, newest last; a session reads the notes since its last read. The journal is bounded: a
// session that is too far behind compares the modseq of each message instead.

/** The least number of UIDs that are kept, for a folder of any size. */
const LEAST_KEPT = 1000;

export class FlagJournal {
  readonly #notes: Uint32Array[] = [];
  #firstNumber = 0;
  #uidCount = 0;

  /** The number of the next note. */
  get end(): number {
    return this.#firstNumber + this.#notes.length;
  }

  /** `present` is the number of messages in the folder. */
  add(uids: Uint32Array, present: number): void {
    if (uids.length === 0) return;
    const most = Math.max(LEAST_KEPT, present / 8);
    if (uids.length > most) {
      this.clear();
      return;
    }
    // A slice is copied, because it would keep its whole buffer in memory.
    this.#notes.push(uids.byteLength < uids.buffer.byteLength ? uids.slice() : uids);
    this.#uidCount += uids.length;
    while (this.#uidCount > most) this.#forgetFirst();
  }

  /** Removes all notes: a session that needs earlier ones must compare all messages. */
  clear(): void {
    this.#firstNumber = this.end + 1;
    this.#notes.length = 0;
    this.#uidCount = 0;
  }

  /** Tells whether all notes from this number on are available. */
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
