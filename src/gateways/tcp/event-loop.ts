// The event loop of this process, to which sessions give way. Holders are accounts and, before the login, addresses.
import { FairYield } from '../../bounds/fair-yield.js';

/** A time slice: ms of work after which a session gives way. */
export const SLICE_MS = 4;

/** One for the process. */
export const eventLoop = new FairYield();
