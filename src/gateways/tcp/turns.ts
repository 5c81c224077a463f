// Turns of the event loop for what sessions work at. Holders are accounts and, before the login, addresses.
import { FairTurns } from '../../bounds/fair-turns.js';

/** ms of work after which a session waits for its next turn. */
export const TURN_MS = 4;

/** Of this process, as the event loop is. */
export const turns = new FairTurns();
