// The maildrop of POP3: the inbox, shown to one session at a time (maildrop-locks.ts), and the removals of QUIT.

import { packIds, packSizes, packUids } from '../../../mail-format/packed-columns.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxState } from '../state/state.js';
import type { MailboxHandlers } from './command-handlers.js';
import type { MaildropLocks } from './maildrop-locks.js';
import { removeFrom } from './placing.js';
import { MOST_EMAILS } from './selection.js';

const MOST_OF_PAGE = 20_000;

type Commands = Pick<MailboxHandlers<MailboxProtocol>, 'openMaildrop' | 'quitMaildrop'>;

/** These commands may be planned again: a session may acquire a lock that it already has. */
export function maildropCommands(locks: MaildropLocks): Commands {
  return {
    openMaildrop({ state: { accountId }, epoch, folders }, { sessionId }) {
      const isOpen = locks.take(accountId, epoch, sessionId);
      const { id: folderId, uidNext } = folders.rowOf('inbox');
      return { reply: { kind: isOpen ? 'open' : 'inUse', folderId, uidNext } };
    },

    quitMaildrop(tx, { sessionId, uids, isLast }) {
      const { accountId } = tx.state;
      if (!locks.take(accountId, tx.epoch, sessionId)) return { reply: { kind: 'inUse', isComplete: false } };
      const { id } = tx.folders.rowOf('inbox');
      const slots = tx.folders.slotsOfUids(id, uids);
      const isComplete = slots.length <= MOST_EMAILS;
      removeFrom(tx, slots.slice(0, MOST_EMAILS), id);
      if (isComplete && isLast) locks.free(accountId, sessionId);
      return { reply: { kind: 'open', isComplete } };
    },
  };
}

type Queries = Pick<QueryHandlers<MailboxProtocol, MailboxState>, 'keepMaildrop' | 'closeMaildrop' | 'maildropPage'>;

export function maildropQueries(locks: MaildropLocks): Queries {
  return {
    async keepMaildrop({ accountId, epoch }, { sessionId }) {
      return { reply: { kind: locks.take(accountId, epoch, sessionId) ? 'open' : 'inUse' } };
    },

    async closeMaildrop({ accountId }, { sessionId }) {
      locks.free(accountId, sessionId);
      return { reply: {} };
    },

    async maildropPage(state, { fromUid, belowUid, limit = MOST_OF_PAGE }) {
      const folder = state.folderOf('inbox');
      const first = folder.indexOfUid(fromUid);
      const end = folder.indexOfUid(belowUid);
      const count = Math.min(end - first, Math.max(limit, 1), MOST_OF_PAGE);
      const slots = Uint32Array.from({ length: count }, (_, i) => folder.slotAt(first + i));
      return {
        reply: {
          uids: packUids(slots.map((slot) => folder.uidOf(slot))),
          sizes: packSizes(slots.map((slot) => state.emails.sizeOf(slot))),
          emailIds: packIds(state.emails.idWords(slots)),
          nextUid: first + count < end ? folder.uidAt(first + count) : null,
        },
      };
    },
  };
}
