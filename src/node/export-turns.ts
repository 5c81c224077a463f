// Exports of one account keep their distance: they read all its mail. One that its client leaves, or that breaks off, gives its
// turn back, a few times within the interval; so an account that breaks off its exports causes the load of a few of them.
import type { Logger } from 'pino';
import type { ExportStore } from '../store/exports.js';

const GIVEN_BACK = 3;

/** To wait, or the turn and how to give it back. */
type ExportTurn =
  | { readonly waitSeconds: number; readonly giveBack?: never }
  | { readonly waitSeconds: 0; giveBack(): void };

export interface ExportTurns {
  claim(accountId: string): Promise<ExportTurn>;
}

export function exportTurns(store: ExportStore, intervalSeconds: number, log: Pick<Logger, 'warn'>): ExportTurns {
  return {
    async claim(accountId) {
      const { waitSeconds, turn } = await store.claim(accountId, intervalSeconds);
      if (turn === undefined) return { waitSeconds };
      const giveBack = () => {
        if (turn === null) return;
        store.giveBack(accountId, turn, intervalSeconds, GIVEN_BACK).catch((err: unknown) => {
          log.warn({ accountId, err }, 'an export broke off; the account has to wait for its next one');
        });
      };
      return { waitSeconds: 0, giveBack };
    },
  };
}
