// Faults of the store.
import { Fault } from '../concurrency/fault.js';

/** `store-locked`: another client holds the same rows for long. */
export class StoreFault extends Fault<'store-unavailable' | 'store-locked' | 'store-conflict' | 'store-failed'> {
  /** The write may have been carried out: the database has not confirmed that it refused it. */
  get isUndecided(): boolean {
    return this.temporary && this.code !== 'store-locked';
  }
}
