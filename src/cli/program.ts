// Assembles the program of its commands, with rules for all of them: help appears only on request, and a wrong command line results in one
// line on stderr and exit code 1. A command line that names a command loads the code of this command alone (decision 0069).
import type { Command } from 'commander';
import { trustAuthorities } from '../net/tcp/further-authorities.js';
import { loadEnvFile } from '../node/config/config.js';
import { version } from '../node/version.js';
import { fileFault } from './named-files.js';

type Register = (program: Command) => void;

/** Loads each command, or group of commands, by its name; in the order of the help. */
const COMMANDS: ReadonlyMap<string, () => Promise<Register>> = new Map([
  ['serve', async () => (await import('./serve.js')).registerServe],
  ['config', async () => (await import('./config.js')).registerConfig],
  ['migrate', async () => (await import('./migrate.js')).registerMigrate],
  ['domain', async () => (await import('./domain.js')).registerDomain],
  ['account', async () => (await import('./account.js')).registerAccount],
  ['address', async () => (await import('./address.js')).registerAddress],
  ['alias', async () => (await import('./alias.js')).registerAlias],
  ['unclaimed', async () => (await import('./unclaimed.js')).registerUnclaimed],
  ['key', async () => (await import('./key.js')).registerKey],
  ['quota', async () => (await import('./limits/quota.js')).registerQuota],
  ['queue', async () => (await import('./queue.js')).registerQueue],
  ['suppression', async () => (await import('./outbound/suppression.js')).registerSuppression],
  ['trace', async () => (await import('./trace.js')).registerTrace],
  ['reports', async () => (await import('./reports.js')).registerReports],
  ['import', async () => (await import('./import.js')).registerImport],
  ['export', async () => (await import('./export.js')).registerExport],
  ['backup', async () => (await import('./backup/backup.js')).registerBackup],
  ['restore', async () => (await import('./backup/restore.js')).registerRestore],
  ['cluster', async () => (await import('./cluster.js')).registerCluster],
  ['doctor', async () => (await import('./doctor.js')).registerDoctor],
  ['setup', async () => (await import('./setup/setup.js')).registerSetup],
]);

/** `serve` and `setup` create a missing store; `config` opens none. */
const WITHOUT_STORE: ReadonlySet<string> = new Set(['serve', 'config', 'setup']);

const VERSION_FLAGS = ['-V', '--version'];

/** The words that follow `mansio` decide which commands the program gets: see `neededBy`. */
export async function assemble(program: Command, words: readonly string[]): Promise<Command> {
  program
    .description('An actor-model, reactive mail engine')
    .version(version, VERSION_FLAGS.join(', '))
    .configureOutput({ outputError: (text, write) => write(`${text.trim().replace(/\s*\n\s*/g, ' ')}\n`) });
  for (const register of await Promise.all(neededBy(words).map((load) => load()))) register(program);
  const commands = leaves(program).filter((command) => command !== program);
  for (const command of commands) takeEnvFile(command);
  const ofStore = commands.filter((command) => !WITHOUT_STORE.has(command.name()));
  if (ofStore.length > 0) (await import('./store.js')).onStore(ofStore);
  demandCommand(program, program.name());
  return program;
}

/** The command that the first word names. Help, and the refusal of an unknown command, need all of them. */
function neededBy([first = '']: readonly string[]): readonly (() => Promise<Register>)[] {
  if (VERSION_FLAGS.includes(first)) return [];
  const named = COMMANDS.get(first);
  return named === undefined ? [...COMMANDS.values()] : [named];
}

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
