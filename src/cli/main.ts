// The program `mansio`: puts the command groups together. Each group registers its own commands; errors that reach this
// point become one line on stderr and exit code 1.
import { Command } from 'commander';
import { explain } from '../start-failure.js';
import { version } from '../version.js';
import { registerAccount } from './account.js';
import { registerAddress } from './address.js';
import { registerConfig } from './config.js';
import { registerDomain } from './domain.js';
import { registerKey } from './key.js';
import { registerMigrate } from './migrate.js';
import { registerServe } from './serve.js';

const program = new Command('mansio')
  .description('An actor-model, reactive mail engine')
  .version(version)
  .showHelpAfterError('(see mansio --help)');

registerServe(program);
registerConfig(program);
registerMigrate(program);
registerDomain(program);
registerAccount(program);
registerAddress(program);
registerKey(program);

// A reader that went away (`mansio config | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await program.parseAsync();
} catch (error) {
  const bug = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`mansio: ${explain(error) ?? bug}\n`);
  process.exit(1);
}
