// `mansio migrate`: brings the schema to this version. Nodes do it at start as well; this is for doing it before.
import type { Command } from 'commander';
import { printing } from './output.js';
import { withStore } from './store.js';

export function registerMigrate(program: Command): void {
  const command = program.command('migrate').description('bring the database schema to this version');
  printing(command, async () => {
    const { applied, version } = await withStore(async ({ migrated }) => migrated);
    return { version, applied };
  });
}
