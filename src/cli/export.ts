// `mansio export`: writes the mail of an account as a Maildir with its folders, flags and dates. It reads the store, whether nodes run or
// not. A repeated export adds the new mail.
import { mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { type ExportCounts, exportMail } from '../import-export/export.js';
import { postgresBlobs } from '../store/postgres/mailbox/blobs.js';
import { postgresMailboxes } from '../store/postgres/mailbox/mailboxes.js';
import { existingAccount } from './arguments.js';
import { fileFault } from './named-files.js';
import { inert, reporting } from './output.js';
import { progressTo } from './progress.js';
import { withStore } from './store.js';

interface Options {
  readonly account: string;
  readonly maildir: string;
  readonly json?: boolean;
}

export function registerExport(program: Command): void {
  const command = program
    .command('export')
    .description('export the mail of an account to a Maildir; existing mail is skipped')
    .requiredOption('--account <account>', 'address or id of the account')
    .requiredOption('--maildir <directory>', 'made when it is missing');
  reporting(command, run, ({ exported, skipped }) => `${exported} exported, ${skipped} already there`);
}

async function run({ account, maildir, json }: Options): Promise<ExportCounts> {
  const progress = progressTo(process.stderr, json === true);
  try {
    return await withStore(async ({ sql, directory }) => {
      const { id: accountId } = await existingAccount(directory, account);
      await mkdir(maildir, { recursive: true, mode: 0o700 }).catch((error) => {
        throw fileFault('--maildir', maildir, error);
      });
      return exportMail({
        mailboxes: postgresMailboxes(sql, sql),
        blobs: postgresBlobs(sql),
        accountId,
        directory: maildir,
        withoutKeywords: (folder, keywords) =>
          progress.line(inert(`keywords left out in ${folder}, where 26 others are: ${keywords.join(' ')}`)),
        progressed: ({ exported, skipped }, total) =>
          progress.show(exported + skipped, total, `${exported} exported, ${skipped} skipped`),
      });
    });
  } finally {
    progress.end();
  }
}
