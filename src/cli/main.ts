// The program `mansio` as a process: errors that reach this point become one line on stderr and exit code 1.
import { Command } from 'commander';
import { explain } from '../node/start-failure.js';
import { assemble } from './program.js';

// A reader that has gone (`mansio config | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  const program = await assemble(new Command('mansio'), process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  const bug = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`mansio: ${explain(error) ?? bug}\n`);
  process.exit(1);
}
