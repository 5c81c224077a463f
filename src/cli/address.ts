// `mansio address add`: further addresses of an account. The operator's word verifies one; without it the address neither
// receives nor sends.
import type { Command } from 'commander';
import { existingAccount, newAddress } from './arguments.js';
import { commandGroup, printing } from './output.js';
import { withStore } from './store.js';

export function registerAddress(program: Command): void {
  const group = commandGroup(program, 'address', 'further addresses of accounts');

  const add = group
    .command('add')
    .description('give an account a further address')
    .requiredOption('--account <address>', 'the account')
    .requiredOption('--address <address>', 'the address to add')
    .option('--verified', 'the address belongs to the account: receives and sends at once, gets the mail held for it');
  printing(add, async (options: { account: string; address: string; verified?: boolean }) => {
    const address = newAddress(options.address);
    return withStore(async ({ directory }) => {
      const account = await existingAccount(directory, options.account);
      const added = await directory.addAddress(account.id, address, options.verified === true);
      return { id: added.id, address: added.address, isVerified: added.isVerified };
    });
  });
}
