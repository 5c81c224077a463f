// The event log in memory.
import { EVENT_PAGE_OCTETS, type EventLog } from '../../../src/store/events.js';
import type { AccountRows, MemoryTables } from './tables.js';

export function memoryEvents(tables: MemoryTables): EventLog {
  return {
    async read(accountId, after, limit) {
      let octets = 0;
      const changes = tables
        .of(accountId)
        .events.filter(({ seq }) => seq > after)
        .slice(0, limit)
        .filter(({ entries }) => {
          const before = octets;
          octets += JSON.stringify(entries).length;
          return before < EVENT_PAGE_OCTETS;
        });
      return changes.flatMap(({ seq, at, entries }) => entries.map((entry, n) => ({ seq, n, ...entry, at })));
    },
    newest: async (accountId) => tables.of(accountId).events.at(-1)?.seq ?? tables.of(accountId).modseq,
    async prune(maxAgeMs, maxLength) {
      const before = Date.now() - maxAgeMs;
      let count = 0;
      for (const account of tables.accounts.values()) {
        const { events } = account;
        const old = events.findLastIndex(({ at }) => at < before);
        count += pruneUpTo(account, Math.max(old + 1, events.length - maxLength));
      }
      return count;
    },
  };
}

/** Drops the first `count` changes, and the records of UIDs that were expunged until then. */
function pruneUpTo(account: AccountRows, count: number): number {
  const dropped = account.events.splice(0, Math.max(0, count));
  const seq = dropped.at(-1)?.seq ?? 0;
  account.expunged = account.expunged.filter(({ modseq }) => modseq > seq);
  return dropped.length;
}
