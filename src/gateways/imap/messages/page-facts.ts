// The facts of the messages of a page in columns, which need a fraction of the memory of objects.
import type { FolderMessageRow } from '../../../store/folder-messages.js';
import { PageTexts } from './page-texts.js';

/** Columns per message. */
const NUMBERS = 3;
const IDS = 3;
const FIRST_PLACES = 8;
/** Memory of the object and its arrays without their contents. */
const OWN_OCTETS = 200;

/** Facts are indexed by the small number of a message within its page. */
export class PageFacts {
  /** Size, time of arrival and time of placing. NaN where there is no message. */
  #numbers = new Float64Array(NUMBERS * FIRST_PLACES).fill(Number.NaN);
  /** The ids of email, thread (where it differs) and blob. */
  readonly #ids = new PageTexts();
  readonly #previews = new PageTexts();

  get octets(): number {
    return OWN_OCTETS + this.#numbers.byteLength + this.#ids.octets + this.#previews.octets;
  }

  has(n: number): boolean {
    return this.size(n) >= 0;
  }

  add(rows: readonly FolderMessageRow[], numbers: readonly number[]): void {
    for (const [i, row] of rows.entries()) if (!this.has(numbers[i]!)) this.#set(numbers[i]!, row);
  }

  size(n: number): number {
    return this.#numbers[NUMBERS * n]!;
  }

  receivedAt(n: number): number {
    return this.#numbers[NUMBERS * n + 1]!;
  }

  savedAt(n: number): number {
    return this.#numbers[NUMBERS * n + 2]!;
  }

  emailId(n: number): string {
    return this.#ids.get(IDS * n)!;
  }

  threadId(n: number): string {
    return this.#ids.get(IDS * n + 1) ?? this.emailId(n);
  }

  blob(n: number): string {
    return this.#ids.get(IDS * n + 2)!;
  }

  preview(n: number): string {
    return this.#previews.get(n)!;
  }

  #set(n: number, { emailId, threadId, blob, size, receivedAt, savedAt, preview }: FolderMessageRow): void {
    this.#makePlace(n);
    this.#numbers.set([size, receivedAt, savedAt], NUMBERS * n);
    this.#ids.set(IDS * n, emailId);
    if (threadId !== emailId) this.#ids.set(IDS * n + 1, threadId);
    this.#ids.set(IDS * n + 2, blob);
    this.#previews.set(n, preview);
  }

  #makePlace(n: number): void {
    let places = this.#numbers.length / NUMBERS;
    if (n < places) return;
    while (places <= n) places *= 2;
    const numbers = new Float64Array(NUMBERS * places).fill(Number.NaN);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}
