// `mansio import`: mail of a mailbox file, a Maildir or an IMAP server comes into an account with its folders, flags and dates. The
// command leaves the messages in the store and a running node places them; without one they wait for the next start.
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { isSystemName, labelName } from '../mail/folder-name.js';
import { postgresImports } from '../store/postgres/imports.js';
import { postgresLeases } from '../store/postgres/leases.js';
import { namedFolder } from '../transfer/folder-places.js';
import { type ImportCounts, importMail } from '../transfer/import.js';
import { maildirSource } from '../transfer/maildir-source.js';
import { mboxSource } from '../transfer/mbox-source.js';
import type { MailSource } from '../transfer/source.js';
import { existingAccount } from './arguments.js';
import { CommandError, inert, reporting } from './output.js';
import { type Progress, progressTo } from './progress.js';
import { type CommandStore, withStore } from './store.js';

interface Options {
  readonly account: string;
  readonly mbox?: string;
  readonly maildir?: string;
  readonly imap?: string;
  readonly folder?: string;
  readonly label?: string;
  readonly json?: boolean;
}

export function registerImport(program: Command): void {
  const command = program
    .command('import')
    .description('bring mail of elsewhere into an account; what is there already is skipped')
    .requiredOption('--account <account>', 'address or id of the account')
    .option('--mbox <file>', 'a mailbox file (mboxrd, mboxo)')
    .option('--maildir <directory>', 'a Maildir with its folders')
    .option('--imap <url>', 'a mailbox on a server: imaps://user@host or imap://user@host')
    .option('--folder <folder>', 'where the mail of a mailbox file goes; the inbox when absent')
    .option('--label <name>', 'a label that the imported mail gets');
  reporting(command, run, inWords);
}

async function run(options: Options): Promise<ImportResult> {
  const label = options.label === undefined ? undefined : labelOf(options.label);
  const source = await sourceOf(options);
  const progress = progressTo(process.stderr, options.json === true);
  try {
    return await withStore(async (store) => {
      const { id } = await existingAccount(store.directory, options.account);
      const counts = await importMail({
        imports: postgresImports(store.sql),
        accountId: id,
        source,
        label,
        isServed: () => isServed(store),
        failed: (where, problem) => progress.line(inert(`not imported: ${where}: ${problem}`)),
        progressed: shown(progress, source),
      });
      if (counts.failed > 0) process.exitCode = 1;
      return resultOf(counts);
    });
  } finally {
    progress.end();
  }
}

/** `waiting` is there when messages wait for a node. */
type ImportResult = Omit<ImportCounts, 'waiting'> & Partial<Pick<ImportCounts, 'waiting'>>;

function resultOf({ waiting, ...counts }: ImportCounts): ImportResult {
  return waiting === 0 ? counts : { ...counts, waiting };
}

async function sourceOf({ mbox, maildir, imap, folder }: Options): Promise<MailSource> {
  const named = [mbox, maildir, imap].filter((name) => name !== undefined);
  if (named.length !== 1) throw new CommandError('name one source: --mbox, --maildir or --imap');
  if (folder !== undefined && mbox === undefined) throw new CommandError('--folder goes with --mbox');
  if (mbox !== undefined) {
    const path = folder === undefined ? 'INBOX' : folderOf(folder);
    if (!(await stat(mbox)).isFile()) throw new CommandError(`${mbox} is not a file`);
    return mboxSource(mbox, path);
  }
  if (maildir !== undefined) return maildirSource(maildir);
  throw new CommandError('not yet');
}

function folderOf(text: string): string {
  const read = namedFolder(text);
  if ('problem' in read) throw new CommandError(`--folder ${read.problem}`);
  return read.path;
}

function labelOf(text: string): string {
  const read = labelName(text);
  if ('problem' in read) throw new CommandError(`--label ${read.problem}`);
  if (isSystemName(read.name)) throw new CommandError(`--label ${read.name} is the name of a folder of the system`);
  return read.name;
}

async function isServed({ sql }: CommandStore): Promise<boolean> {
  const { nodes } = await postgresLeases(sql).view();
  return nodes.some(({ expired, roles }) => !expired && roles.includes('mailbox'));
}

function shown(progress: Progress, source: MailSource): (counts: ImportCounts) => void {
  const began = performance.now();
  return ({ imported, skipped, failed, waiting }) => {
    const seconds = (performance.now() - began) / 1000;
    const rate = Math.round((imported + skipped) / Math.max(0.001, seconds));
    const lost = failed === 0 ? '' : `, ${failed} failed`;
    const waits = waiting === 0 ? '' : `, ${waiting} to be placed`;
    const text = `${imported} imported, ${skipped} skipped${lost}${waits}, ${rate}/s`;
    progress.show(source.progress.done, source.progress.total, text);
  };
}

function inWords({ imported, skipped, failed, waiting }: ImportResult): string {
  const lines = [`${imported} imported, ${skipped} skipped because they were there`];
  if (failed > 0) lines.push(`${failed} could not be imported, see above`);
  if (waiting !== undefined)
    lines.push(`${waiting} wait to be placed: the next node with the role mailbox that runs on this store does that`);
  return lines.join('\n');
}
