// Ids of the objects that a batch of commands creates (RFC 9562 version 7). Time and randomness are arguments.
import { uuidV7 } from '../../../mail-format/ids.js';
import type { EmailColumns } from './email-columns.js';

interface Sources {
  /** ms since the epoch. */
  readonly now: number;
  random(octets: number): Uint8Array;
}

export class BatchIds {
  readonly #sources: Sources;
  #time: number;
  #sequence: number;

  constructor({ newestIdTime, newestIdSequence }: EmailColumns, sources: Sources) {
    this.#sources = sources;
    this.#time = newestIdTime;
    this.#sequence = newestIdSequence;
  }

  /** Makes the id of a new email: it is above every email id of the mailbox, even if the clock goes back. */
  ofEmail(): string {
    const { now } = this.#sources;
    if (now > this.#time) {
      this.#time = now;
      this.#sequence = 0;
    } else if (this.#sequence >= 0xfff) {
      this.#time++;
      this.#sequence = 0;
    } else {
      this.#sequence++;
    }
    return uuidV7(this.#time, this.#sequence, this.#sources.random(8));
  }

  /** Makes the id of an object other than an email. */
  other(): string {
    return uuidV7(this.#sources.now, 0, this.#sources.random(8));
  }
}
