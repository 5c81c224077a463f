// `mansio import`: imports a mailbox file, a Maildir or the mail of an IMAP server into an account, with folders, flags and dates. The
// command puts the messages into the store and a running node places them; without a node they wait for the next start.
import type { Command } from 'commander';
import { namedFolder } from '../import-export/folder-places.js';
import { type ImapServer, imapServer } from '../import-export/imap-server.js';
import { type ImportCounts, importMail } from '../import-export/import.js';
import { maildirSource } from '../import-export/maildir-source.js';
import { mboxSource } from '../import-export/mbox-source.js';
import type { MailSource } from '../import-export/source.js';
import { isSystemName, labelName } from '../mail-format/folder-name.js';
import { readConfig } from '../node/config/config.js';
import type { ImportPosition } from '../store/imports.js';
import type { Limits, Usage } from '../store/limits/quotas.js';
import { postgresQuotas } from '../store/postgres/accounts/quotas.js';
import { postgresLeases } from '../store/postgres/leases.js';
import { postgresImports } from '../store/postgres/mailbox/imports.js';
import { existingAccount } from './arguments.js';
import { demandNamed, readNamed } from './named-files.js';
import { askSecret, CommandError, inert, reporting } from './output.js';
import { type Progress, progressTo } from './progress.js';
import { type CommandStore, withStore } from './store.js';

interface Options {
  readonly account: string;
  readonly mbox?: string;
  readonly maildir?: string;
  readonly imap?: string;
  readonly passwordFile?: string;
  readonly tokenFile?: string;
  readonly insecure?: boolean;
  readonly folder?: string;
  readonly label?: string;
  readonly json?: boolean;
}

/** Opens a source at the position that earlier imports into the account have reached. */
type Opening = (position: (source: string) => Promise<ImportPosition | undefined>) => Promise<MailSource>;

export function registerImport(program: Command): void {
  const command = program
    .command('import')
    .description('import mail into an account; existing mail is skipped')
    .requiredOption('--account <account>', 'address or id of the account')
    .option('--mbox <file>', 'a mailbox file (mboxrd, mboxo)')
    .option('--maildir <directory>', 'a Maildir with its folders')
    .option('--imap <url>', 'a mailbox on a server: imaps://user@host or imap://user@host')
    .option('--password-file <file>', 'its first line is the password for --imap; asked for when absent')
    .option('--token-file <file>', 'its first line is an OAuth 2.0 access token for --imap, read for each connection')
    .option('--insecure', 'take any certificate of the server of --imap, and go on without TLS when it has none')
    .option('--folder <folder>', 'where the mail of a mailbox file goes; the inbox when absent')
    .option('--label <name>', 'a label that the imported mail gets');
  reporting(command, run, inWords);
}

async function run(options: Options): Promise<ImportResult> {
  const label = options.label === undefined ? undefined : labelOf(options.label);
  const opening = await openingOf(options);
  const progress = progressTo(process.stderr, options.json === true);
  try {
    return await withStore(async (store) => {
      const { id: accountId } = await existingAccount(store.directory, options.account);
      const imports = postgresImports(store.sql);
      const source = await opening((name) => imports.position(accountId, name));
      const counts = await importMail({
        imports,
        accountId,
        source,
        label,
        room: await roomOf(store, accountId),
        isServed: () => isServed(store),
        failed: (where, problem) => progress.line(inert(`not imported: ${where}: ${problem}`)),
        progressed: shown(progress, source),
      });
      if (counts.failed > 0 || counts.isFull === true) process.exitCode = 1;
      return resultOf(counts);
    });
  } finally {
    progress.end();
  }
}

/** `waiting` is present when messages wait for a node. */
type ImportResult = Omit<ImportCounts, 'waiting'> & Partial<Pick<ImportCounts, 'waiting'>>;

function resultOf({ waiting, ...counts }: ImportCounts): ImportResult {
  return waiting === 0 ? counts : { ...counts, waiting };
}

/** Refuses wrong options before the store is opened. */
async function openingOf(options: Options): Promise<Opening> {
  const { mbox, maildir, imap, folder } = options;
  const named = [mbox, maildir, imap].filter((name) => name !== undefined);
  if (named.length !== 1) throw new CommandError('name one source: --mbox, --maildir or --imap');
  if (folder !== undefined && mbox === undefined) throw new CommandError('--folder goes with --mbox');
  const { passwordFile, tokenFile, insecure } = options;
  if (imap === undefined && (passwordFile !== undefined || tokenFile !== undefined || insecure === true))
    throw new CommandError('--password-file, --token-file and --insecure go with --imap');
  if (passwordFile !== undefined && tokenFile !== undefined)
    throw new CommandError('give --password-file or --token-file, not both');
  if (mbox !== undefined) {
    const path = folder === undefined ? 'INBOX' : folderOf(folder);
    await demandNamed('--mbox', mbox, 'file');
    const source = await mboxSource(mbox, path);
    return async () => source;
  }
  if (maildir !== undefined) {
    await demandNamed('--maildir', maildir, 'directory');
    const source = await maildirSource(maildir);
    return async () => source;
  }
  const server = await serverOf(imap!, options);
  // A command that reads files does not need the client.
  const { imapSource } = await import('../import-export/imap-source.js');
  return (position) => imapSource(server, position);
}

async function serverOf(url: string, { insecure = false, passwordFile, tokenFile }: Options): Promise<ImapServer> {
  const server = imapServer(url, insecure);
  if ('problem' in server) throw new CommandError(`--imap ${server.problem}`);
  if (passwordFile !== undefined)
    return { ...server, password: await firstLine('--password-file', passwordFile, 'password') };
  if (tokenFile !== undefined) {
    const token = () => firstLine('--token-file', tokenFile, 'token');
    await token();
    return { ...server, token };
  }
  if (server.password !== '') return server;
  return { ...server, password: await askSecret(`password of ${server.name}: `, 'give it with --password-file') };
}

async function firstLine(option: string, file: string, what: string): Promise<string> {
  const [line = ''] = (await readNamed(option, file)).split(/\r?\n/);
  if (line === '') throw new CommandError(`${file} has no ${what} in its first line`);
  return line;
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

/** What the account may still get: mail of an import that waits to be placed counts as used. */
async function roomOf({ sql }: CommandStore, accountId: string): Promise<Limits> {
  const { quotaBytes, quotaMessages } = readConfig();
  const [quota] = await postgresQuotas(sql).accounts([accountId]);
  const waiting = await postgresImports(sql).waitingUse(accountId);
  const roomIn = (resource: keyof Usage, byDefault: number): number | null => {
    const limit = (quota?.setting[resource] ?? byDefault) || null;
    return limit === null ? null : Math.max(0, limit - (quota?.used[resource] ?? 0) - waiting[resource]);
  };
  return { bytes: roomIn('bytes', quotaBytes), messages: roomIn('messages', quotaMessages) };
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

function inWords({ imported, skipped, failed, waiting, isFull }: ImportResult): string {
  const lines = [`${imported} imported, ${skipped} already there`];
  if (isFull === true)
    lines.push(
      'the mailbox is full: raise its quota (mansio quota set) or delete mail, and run the import again, which goes on where it ended',
    );
  if (failed > 0) lines.push(`${failed} could not be imported, see above`);
  if (waiting !== undefined)
    lines.push(`${waiting} wait to be placed: the next node with the role mailbox that runs on this store does that`);
  return lines.join('\n');
}
