// The rate of exports per account: an export reads all its mail, so there is an interval between exports. An export that its client leaves,
// or that breaks off, returns its permit, a few times within the interval; so an account that breaks off its exports causes the load of
// only a few.
import type { Logger } from 'pino';
import type { ExportStore } from '../../store/exports.js';

const GIVEN_BACK = 3;

/** Either the time to wait, or the permit and the function that returns it. */
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
