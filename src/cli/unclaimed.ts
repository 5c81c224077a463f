// `mansio unclaimed list | show | deliver | delete`: mail for addresses of hosted domains that no account has. An account that gets the
// address claims its mail (`mansio account create`, `mansio address add --verified`); these commands handle the rest.
import type { Command } from 'commander';
import { canonicalAddress } from '../mail-format/address.js';
import type { UnclaimedMail, UnclaimedMessage, UnclaimedStore } from '../store/addresses/unclaimed.js';
import { postgresUnclaimed } from '../store/postgres/accounts/unclaimed.js';
import { domainName, existingAccount } from './arguments.js';
import { CommandError, commandGroup, confirm, printing, reporting, textOf } from './output.js';
import { type CommandStore, withStore } from './store.js';

type UnclaimedMailView = UnclaimedMail & { readonly emails: readonly UnclaimedMessage[] };

export function registerUnclaimed(program: Command): void {
  const group = commandGroup(program, 'unclaimed', 'mail for addresses of hosted domains that no account has');

  const list = group
    .command('list')
    .description('list the addresses that mail waits for, the newest mail first')
    .option('--domain <domain>', 'of this domain alone');
  printing(list, async ({ domain }: { domain?: string }) => {
    const name = domain === undefined ? undefined : domainName(domain);
    return (await withUnclaimed((unclaimed) => unclaimed.list(name))).map(shapeOf);
  });

  const show = group.command('show').description('show the mail that waits for an address').argument('<address>');
  reporting(
    show,
    async (text: string): Promise<UnclaimedMailView> => {
      const address = addressOf(text);
      return withUnclaimed(async (unclaimed) => {
        const mail = existing(address, await unclaimed.find(address));
        return { ...mail, emails: (await unclaimed.messages(address)).map(messageOf) };
      });
    },
    ({ emails, ...mail }) => `${textOf({ ...mail })}\n\n${textOf(emails.map(messageOf))}`,
  );

  const deliver = group
    .command('deliver')
    .description('hand the mail that waits for an address to an account; the address itself stays unknown')
    .argument('<address>')
    .requiredOption('--to <account>', 'the account that gets the mail');
  reporting(
    deliver,
    async (text: string, { to }: { to: string }) => {
      const address = addressOf(text);
      return withUnclaimed(async (unclaimed, { directory }) => {
        const { id } = await existingAccount(directory, to);
        return existing(address, await unclaimed.deliver(address, id));
      });
    },
    ({ messages }) => `delivered ${counted(messages)} to ${deliver.opts<{ to: string }>().to}`,
  );

  const remove = group
    .command('delete')
    .description('delete the mail that waits for an address')
    .argument('<address>')
    .option('--yes', 'do not ask');
  reporting(
    remove,
    async (text: string, { yes }: { yes?: boolean }) => {
      const address = addressOf(text);
      await confirm(yes, `the mail that waits for ${address} will be deleted permanently`);
      return withUnclaimed(async (unclaimed) => existing(address, await unclaimed.delete(address)));
    },
    ({ messages }) => `deleted ${counted(messages)}`,
  );
}

const counted = (messages: number): string => `${messages} ${messages === 1 ? 'message' : 'messages'}`;

function withUnclaimed<T>(work: (unclaimed: UnclaimedStore, store: CommandStore) => Promise<T>): Promise<T> {
  return withStore((store) => work(postgresUnclaimed(store.sql), store));
}

function addressOf(text: string): string {
  const address = canonicalAddress(text);
  if (address === undefined) throw new CommandError(`not an e-mail address: ${text}`);
  return address;
}

function existing(address: string, mail: UnclaimedMail | undefined) {
  if (mail === undefined) throw new CommandError(`no unclaimed mail for ${address} (see mansio unclaimed list)`);
  return shapeOf(mail);
}

function shapeOf({ address, messages, bytes, newest }: UnclaimedMail) {
  return { address, messages, bytes, newest };
}

function messageOf({ receivedAt, from, subject, bytes }: UnclaimedMessage) {
  return { receivedAt, from, subject, bytes };
}
