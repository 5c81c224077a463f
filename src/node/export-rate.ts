// The rate of exports per account: they read all its mail, so they keep their distance. An export that its client leaves, or that breaks off,
// gives its permit back, a few times within the interval; so an account that breaks off its exports causes the load of a few of them.
import type { Logger } from 'pino';
import type { ExportStore } from '../store/exports.js';

const GIVEN_BACK = 3;

/** To wait, or the permit and how to give it back. */
type ExportPermit =
  | { readonly waitSeconds: number; readonly giveBack?: never }
  | { readonly waitSeconds: 0; giveBack(): void };

export interface ExportRate {
  claim(accountId: string): Promise<ExportPermit>;
}

export function exportRate(store: ExportStore, intervalSeconds: number, log: Pick<Logger, 'warn'>): ExportRate {
  return {
    async claim(accountId) {
      const { waitSeconds, permit } = await store.claim(accountId, intervalSeconds);
      if (permit === undefined) return { waitSeconds };
      const giveBack = () => {
        if (permit === null) return;
        store.giveBack(accountId, permit, intervalSeconds, GIVEN_BACK).catch((err: unknown) => {
          log.warn({ accountId, err }, 'an export broke off; the account has to wait for its next one');
        });
      };
      return { waitSeconds: 0, giveBack };
    },
  };
}
