// Assembles the commands of the program, with rules for all of them: help appears only on request, and a wrong command line results in one
// line on stderr and exit code 1.
import type { Command } from 'commander';
import { trustAuthorities } from '../net/tcp/further-authorities.js';
import { loadEnvFile } from '../node/config/config.js';
import { version } from '../node/version.js';
import { registerAccount } from './account.js';
import { registerAddress } from './address.js';
import { registerAlias } from './alias.js';
import { registerBackup } from './backup/backup.js';
import { registerRestore } from './backup/restore.js';
import { registerCluster } from './cluster.js';
import { registerConfig } from './config.js';
import { registerDoctor } from './doctor.js';
import { registerDomain } from './domain.js';
import { registerExport } from './export.js';
import { registerImport } from './import.js';
import { registerKey } from './key.js';
import { registerQuota } from './limits/quota.js';
import { registerMigrate } from './migrate.js';
import { fileFault } from './named-files.js';
import { registerSuppression } from './outbound/suppression.js';
import { registerQueue } from './queue.js';
import { registerReports } from './reports.js';
import { registerServe } from './serve.js';
import { registerSetup } from './setup/setup.js';
import { onStore } from './store.js';
import { registerTrace } from './trace.js';
import { registerUnclaimed } from './unclaimed.js';

export function assemble(program: Command): Command {
  program
    .description('An actor-model, reactive mail engine')
    .version(version)
    .configureOutput({ outputError: (text, write) => write(`${text.trim().replace(/\s*\n\s*/g, ' ')}\n`) });
  registerServe(program);
  registerConfig(program);
  registerMigrate(program);
  registerDomain(program);
  registerAccount(program);
  registerAddress(program);
  registerAlias(program);
  registerUnclaimed(program);
  registerKey(program);
  registerQuota(program);
  registerQueue(program);
  registerSuppression(program);
  registerTrace(program);
  registerReports(program);
  registerImport(program);
  registerExport(program);
  registerBackup(program);
  registerRestore(program);
  registerCluster(program);
  registerDoctor(program);
  registerSetup(program);
  const commands = leaves(program);
  for (const command of commands) takeEnvFile(command);
  onStore(commands.filter((command) => !WITHOUT_STORE.has(command.name())));
  demandCommand(program, program.name());
  return program;
}

/** `serve` and `setup` create a missing store; `config` opens none. */
const WITHOUT_STORE: ReadonlySet<string> = new Set(['serve', 'config', 'setup']);

function leaves(group: Command): readonly Command[] {
  return group.commands.length === 0 ? [group] : group.commands.flatMap(leaves);
}

function takeEnvFile(command: Command): void {
  command
    .option('--env-file <file>', 'take settings that the environment does not have from a file of NAME=value lines')
    .hook('preAction', () => {
      const { envFile } = command.opts<{ envFile?: string }>();
      if (envFile === undefined) return;
      try {
        const { NODE_EXTRA_CA_CERTS: authorities } = loadEnvFile(envFile);
        if (authorities && !trustAuthorities(authorities))
          process.stderr.write(
            `NODE_EXTRA_CA_CERTS of ${envFile} has no effect with Node.js ${process.versions.node}, which reads it before the file: run "set -a; . ${envFile}; set +a" before the command\n`,
          );
      } catch (error) {
        const fault = fileFault('--env-file', envFile, error) as Error;
        command.error(`error: ${fault === error ? `--env-file ${envFile}: ` : ''}${fault.message}`);
      }
    });
}

/**
 * Makes a group refuse a missing or unknown command with one line; Commander would print its whole help. It runs after the commands are
 * added, because they would inherit the leniency.
 */
function demandCommand(group: Command, called: string): void {
  const names = group.commands.map((command) => command.name());
  if (names.length === 0) return;
  for (const command of group.commands) demandCommand(command, `${called} ${command.name()}`);
  group
    .helpCommand(true)
    .allowExcessArguments(true)
    // The options of an unknown command are unknown too; only the wrong name is reported.
    .allowUnknownOption(true)
    .action(() => {
      const [word] = group.args;
      const kind = word?.startsWith('-') === true ? 'option' : 'command';
      const what = word === undefined ? `${called} needs a command` : `unknown ${kind} '${word}'`;
      group.error(`error: ${what}: one of ${names.join(', ')} (see ${called} --help)`);
    });
}
