// The event loop of this process, to which sessions yield. Holders are accounts and, before the login, addresses.
import { FairYield } from '../../concurrency/fair-yield.js';

/** A time slice: ms of work after which a session yields. */
export const SLICE_MS = 4;

/** The only one in the process. */
export const eventLoop = new FairYield();
