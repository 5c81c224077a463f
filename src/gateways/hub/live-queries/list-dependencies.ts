// The dependencies that the live queries of all accounts of a node share.
import type { Logger } from 'pino';
import type { Mailboxes } from '../../../actors/mailbox/protocol.js';
import type { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import type { HubMeter } from '../meter.js';
import type { ListLanguage } from './list-language.js';
import type { Pacing } from './refresh-schedule.js';

export interface ListDependencies {
  readonly mailboxes: Mailboxes;
  readonly language: ListLanguage;
  readonly log: Logger;
  readonly meter: HubMeter;
  /** Limits the questions to mailboxes that run at the same time. */
  readonly asks: FairSemaphore;
  /** A client for which more than this waits has fallen behind. Octets */
  readonly pauseBytes: number;
  readonly pacing: { readonly memory: Pacing; readonly store: Pacing };
}
