// The automatic mail that is due in a mailbox, and how much memory it takes: the row of a reply of a script has its texts.
import { LazyMap } from '../../../store/changes/lazy-map.js';
import type { DueMail } from '../../../store/mailbox-rows.js';

/** Approximate memory of a row, apart from what its kind needs besides. */
const ROW_OCTETS = 1_500;

/** The keys are the ids of the rows. */
export class DueMailMemory extends LazyMap<string, DueMail> {
  #further = 0;

  /** Approximate memory. */
  get octets(): number {
    return this.size * ROW_OCTETS + this.#further;
  }

  override set(id: string, due: DueMail): void {
    this.#further += furtherOctets(due) - furtherOctets(this.get(id));
    super.set(id, due);
  }

  override delete(id: string): boolean {
    this.#further -= furtherOctets(this.get(id));
    return super.delete(id);
  }
}

const furtherOctets = (due: DueMail | undefined): number =>
  due?.further === undefined ? 0 : JSON.stringify(due.further).length;
