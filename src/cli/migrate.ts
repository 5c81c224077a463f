// `mansio migrate`: migrates the schema to this version. Nodes also do it at their start; the command does it before.
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
