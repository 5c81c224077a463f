// Operations on the Sieve scripts of an account (RFC 5804). The gateways check that a script compiles and that a name has a valid form.
import { array, boolean, integer, nullable, object, optional, string } from 'superstruct';
import { command, query } from '../../runtime/protocol.js';

/**
 * `tooManyScripts`: more than 32 in the account; `scriptTooLarge`: more than 64 kB, or more than 512 kB with the other scripts of the
 * account.
 */
const ROOM_REFUSALS = ['tooManyScripts', 'scriptTooLarge'] as const;

const done = object({});

export const sieveOperations = {
  /** Sorted by name; `size`: octets of the content. */
  sieveScripts: query({
    payload: object({}),
    reply: object({ scripts: array(object({ name: string(), isActive: boolean(), size: integer() })) }),
  }),
  sieveScript: query({
    payload: object({ name: string() }),
    reply: object({ content: string(), isActive: boolean() }),
    refusals: ['noSuchScript'],
  }),
  /** Tells whether a script of this size, in octets, could be stored under the name. */
  sieveRoom: query({
    payload: object({ name: string(), size: integer() }),
    reply: done,
    refusals: ROOM_REFUSALS,
  }),
  /** Adds a script, or replaces its content. `isActive`: null leaves which script is active as it is. */
  putSieveScript: command({
    payload: object({ name: string(), content: string(), isActive: nullable(boolean()) }),
    reply: done,
    refusals: ROOM_REFUSALS,
    onRepeat: 'remembered',
  }),
  /** null: no script is active. */
  activateSieveScript: command({
    payload: object({ name: nullable(string()) }),
    reply: done,
    refusals: ['noSuchScript'],
    onRepeat: 'remembered',
  }),
  /** `scriptActive`: the active script is deleted only with `mayBeActive`; no script is active then. */
  deleteSieveScript: command({
    payload: object({ name: string(), mayBeActive: optional(boolean()) }),
    reply: done,
    refusals: ['noSuchScript', 'scriptActive'],
    onRepeat: 'remembered',
  }),
  /**
   * Renames a script, and makes it the active one or no longer, in one commit; null leaves what it is. A script that is active stays active
   * under its new name.
   */
  changeSieveScript: command({
    payload: object({ name: string(), newName: nullable(string()), isActive: nullable(boolean()) }),
    reply: done,
    refusals: ['noSuchScript', 'scriptExists'],
    onRepeat: 'remembered',
  }),
  /** A script that is active stays active under its new name. */
  renameSieveScript: command({
    payload: object({ name: string(), newName: string() }),
    reply: done,
    refusals: ['noSuchScript', 'scriptExists'],
    onRepeat: 'remembered',
  }),
};
