// `mansio address add | list | remove`: further addresses of an account. Only the operator can verify one; an unverified address neither
// receives nor sends.
import type { Command } from 'commander';
import type { Account, AccountAddress, DirectoryStore } from '../store/directory.js';
import { existingAccount, newAddress } from './arguments.js';
import { CommandError, commandGroup, printing } from './output.js';
import { withStore } from './store.js';

interface AddOptions {
  readonly account: string;
  readonly address: string;
  readonly verified?: boolean;
  readonly forForwarding?: boolean;
}

export function registerAddress(program: Command): void {
  const group = commandGroup(program, 'address', 'further addresses of accounts');

  const add = group
    .command('add')
    .description('give an account a further address')
    .requiredOption('--account <address>', 'the account')
    .requiredOption('--address <address>', 'the address to add')
    .option('--verified', 'the address belongs to the account: receives and sends at once, gets its unclaimed mail')
    .option('--for-forwarding', 'the account may forward to the address, which another account or an alias has here');
  printing(add, async (options: AddOptions) => {
    const address = newAddress(options.address);
    if (options.verified === true && options.forForwarding === true)
      throw new CommandError('name one of --verified and --for-forwarding: the address belongs to one account');
    return withStore(async ({ directory }) => {
      const account = await existingAccount(directory, options.account);
      if (options.forForwarding === true) return shapeOf(await directory.addForwardingTarget(account.id, address));
      return shapeOf(await directory.addAddress(account.id, address, options.verified === true));
    });
  });

  const list = group
    .command('list')
    .description('list the further addresses of an account, oldest first')
    .requiredOption('--account <address>', 'the account');
  printing(list, async (options: { account: string }) =>
    withStore(async ({ directory }) => {
      const account = await existingAccount(directory, options.account);
      return (await furtherAddresses(directory, account)).map(shapeOf);
    }),
  );

  const remove = group
    .command('remove')
    .description('take a further address from its account; mail that it has stays')
    .argument('<address>')
    .option('--account <address>', 'the account, for an address that several have asked for');
  printing(remove, async (text: string, { account }: { account?: string }) => {
    const address = newAddress(text);
    return withStore(async ({ directory }) => {
      const { owner, added } = await furtherAddress(directory, address, account);
      if (!(await directory.removeAddress(owner.id, added.id)))
        throw new CommandError(`${owner.email} has lost the address ${address} meanwhile`);
      return shapeOf(added);
    });
  });
}

/** @throws CommandError when the address is not a further one of an account or, without `account`, is one of several accounts */
async function furtherAddress(directory: DirectoryStore, address: string, account: string | undefined) {
  const owners =
    account === undefined ? await directory.accountsWith(address) : [await existingAccount(directory, account)];
  const found: { readonly owner: Account; readonly added: AccountAddress }[] = [];
  for (const owner of owners) {
    if (owner.email === address)
      throw new CommandError(`${address} is the primary address of its account: it goes with mansio account delete`);
    const added = (await furtherAddresses(directory, owner)).find((one) => one.address === address);
    if (added !== undefined) found.push({ owner, added });
  }
  // Other accounts may have requested an address that has an owner.
  const only = found.find(({ added }) => added.isVerified) ?? found[0];
  if (only === undefined) {
    const nobody = account === undefined ? 'no account has' : `${account} does not have`;
    throw new CommandError(`${nobody} the further address ${address} (see mansio address list)`);
  }
  if (found.length > 1 && !only.added.isVerified) {
    const names = found.map(({ owner }) => owner.email).join(', ');
    throw new CommandError(`several accounts have asked for ${address}: name one with --account (${names})`);
  }
  return only;
}

async function furtherAddresses(directory: DirectoryStore, { id }: Account): Promise<readonly AccountAddress[]> {
  return (await directory.profile(id))?.additionalAddresses ?? [];
}

function shapeOf({ id, address, isVerified, isForwardingOnly }: AccountAddress) {
  return { id, address, isVerified, isForwardingOnly };
}
