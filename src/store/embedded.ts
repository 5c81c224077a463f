// Stand-in until the real one is merged.
import type { Logger } from 'pino';
import type { DatabaseAddress } from './postgres/client.js';

export function findEmbedded(_dataDir: string): DatabaseAddress | undefined {
  return undefined;
}

export async function startEmbedded(_options: {
  readonly dataDir: string;
  readonly log: Logger;
}): Promise<{ readonly address: DatabaseAddress; stop(): Promise<void> }> {
  throw new Error('no embedded database yet: set DATABASE_URL');
}
