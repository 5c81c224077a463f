// Carries out the operations on Sieve scripts, within the bounds of an account.
import { MOST_SCRIPT_OCTETS } from '../../../mail-format/sieve/limits.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxState } from '../state/state.js';
import type { MailboxTransaction } from '../state/transaction.js';
import type { SieveScripts } from './sieve-scripts.js';

type Commands =
  | 'putSieveScript'
  | 'activateSieveScript'
  | 'changeSieveScript'
  | 'deleteSieveScript'
  | 'renameSieveScript';
type Queries = 'sieveScripts' | 'sieveScript' | 'sieveRoom';

const MOST_SCRIPTS = 32;
/** Octets of all scripts of an account. */
const MOST_OCTETS = 512 * 1024;

export const sieveCommands: Pick<MailboxHandlers<MailboxProtocol>, Commands> = {
  putSieveScript(tx, { name, content, isActive }) {
    const { scripts } = tx.sieve;
    const refusal = roomRefusal(scripts, name, Buffer.byteLength(content));
    if (refusal !== undefined) return { refusal };
    const wasActive = scripts.active === name;
    const isStored = scripts.content(name) === content;
    const changesActive = isActive !== null && isActive !== wasActive;
    if (isStored && !changesActive) return { reply: {} };
    tx.begin();
    if (!isStored) tx.sieve.put(name, content);
    if (changesActive) tx.sieve.activate(isActive ? name : null);
    return { reply: {} };
  },

  activateSieveScript(tx, { name }) {
    const { scripts } = tx.sieve;
    if (name !== null && !scripts.has(name)) return { refusal: 'noSuchScript' };
    if (scripts.active === name) return { reply: {} };
    tx.begin();
    tx.sieve.activate(name);
    return { reply: {} };
  },

  deleteSieveScript(tx, { name, mayBeActive = false }) {
    const { scripts } = tx.sieve;
    if (!scripts.has(name)) return { refusal: 'noSuchScript' };
    const isActive = scripts.active === name;
    if (isActive && !mayBeActive) return { refusal: 'scriptActive' };
    tx.begin();
    if (isActive) tx.sieve.activate(null);
    tx.sieve.remove(name);
    return { reply: {} };
  },

  changeSieveScript(tx, { name, newName, isActive }) {
    const { scripts } = tx.sieve;
    const content = scripts.content(name);
    if (content === undefined) return { refusal: 'noSuchScript' };
    const isRenamed = newName !== null && newName !== name;
    if (isRenamed && scripts.has(newName)) return { refusal: 'scriptExists' };
    const wasActive = scripts.active === name;
    const becomesActive = isActive ?? wasActive;
    if (isRenamed) {
      rename(tx, { name, newName, content, isActive: becomesActive });
    } else if (becomesActive !== wasActive) {
      tx.begin();
      tx.sieve.activate(becomesActive ? name : null);
    }
    return { reply: {} };
  },

  renameSieveScript(tx, { name, newName }) {
    const { scripts } = tx.sieve;
    const content = scripts.content(name);
    if (content === undefined) return { refusal: 'noSuchScript' };
    if (scripts.has(newName)) return { refusal: 'scriptExists' };
    rename(tx, { name, newName, content, isActive: scripts.active === name });
    return { reply: {} };
  },
};

interface Renamed {
  readonly name: string;
  readonly newName: string;
  readonly content: string;
  /** Whether the script is the active one under its new name. */
  readonly isActive: boolean;
}

function rename(tx: MailboxTransaction, { name, newName, content, isActive }: Renamed): void {
  const wasActive = tx.sieve.scripts.active === name;
  tx.begin();
  tx.sieve.put(newName, content);
  if (isActive || wasActive) tx.sieve.activate(isActive ? newName : null);
  tx.sieve.remove(name);
}

export const sieveQueries: Pick<QueryHandlers<MailboxProtocol, MailboxState>, Queries> = {
  async sieveScripts({ sieve }) {
    return { reply: { scripts: sieve.list() } };
  },

  async sieveScript({ sieve }, { name }) {
    const content = sieve.content(name);
    if (content === undefined) return { refusal: 'noSuchScript' };
    return { reply: { content, isActive: sieve.active === name } };
  },

  async sieveRoom({ sieve }, { name, size }) {
    const refusal = roomRefusal(sieve, name, size);
    return refusal === undefined ? { reply: {} } : { refusal };
  },
};

/** Why a script of this size, in octets, cannot be stored under the name. */
function roomRefusal(
  scripts: Pick<SieveScripts, 'has' | 'count' | 'size' | 'sizeOf'>,
  name: string,
  size: number,
): 'tooManyScripts' | 'scriptTooLarge' | undefined {
  if (!scripts.has(name) && scripts.count >= MOST_SCRIPTS) return 'tooManyScripts';
  const after = scripts.size - scripts.sizeOf(name) + size;
  return size > MOST_SCRIPT_OCTETS || after > MOST_OCTETS ? 'scriptTooLarge' : undefined;
}
