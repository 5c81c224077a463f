// `mansio suppression list | remove`: the addresses to which an account sends nothing, because mail to them bounced for good. Only the
// mailbox changes them: the command stores a request, and waits a moment for a running node to execute it.
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { foldedAddress } from '../../mail-format/address.js';
import type { Suppression } from '../../store/outbound.js';
import { postgresOutbound } from '../../store/postgres/outbound/outbound.js';
import { existingAccount } from '../arguments.js';
import { CommandError, commandGroup, reporting, textOf } from '../output.js';
import { patience, REQUEST_POLL_MS } from '../queue.js';
import { withStore } from '../store.js';

interface Removed {
  readonly address: string;
  /** False: no node has lifted it yet. */
  readonly isRemoved: boolean;
}

export function registerSuppression(program: Command): void {
  const group = commandGroup(
    program,
    'suppression',
    'addresses to which an account sends nothing, as mail to them bounced',
  );

  const list = group
    .command('list')
    .description('list the suppressed addresses of an account, oldest first')
    .argument('<account>');
  reporting(
    list,
    (account: string) =>
      withStore(async ({ sql, directory }) => {
        const { id } = await existingAccount(directory, account);
        return (await postgresOutbound(sql).suppressions(id)).map(shapeOf);
      }),
    (suppressions) => textOf(suppressions),
  );

  const remove = group
    .command('remove')
    .description('let an account send to an address again')
    .argument('<account>')
    .argument('<address>');
  reporting(remove, removeSuppression, ({ address, isRemoved }) =>
    isRemoved ? `${address} is removed` : `${address}: no node has done it yet; it is noted, and done when one runs`,
  );
}

function removeSuppression(account: string, text: string): Promise<Removed> {
  return withStore(async ({ sql, directory }) => {
    const { id: accountId, email } = await existingAccount(directory, account);
    const address = foldedAddress(text);
    if (address === undefined) throw new CommandError(`not an address: ${text}`);
    const queue = postgresOutbound(sql);
    const isSuppressed = async () => (await queue.suppressions(accountId)).some((each) => each.address === address);
    if (!(await isSuppressed())) throw new CommandError(`${address} is not suppressed for ${email}`);
    await queue.requestLift({ accountId, address });
    for (const until = await patience(sql); performance.now() < until; await delay(REQUEST_POLL_MS)) {
      if (!(await isSuppressed())) return { address, isRemoved: true };
    }
    return { address, isRemoved: false };
  });
}

const shapeOf = ({ address, reason, since, until }: Suppression) => ({
  address,
  reason,
  since: new Date(since).toISOString(),
  until: new Date(until).toISOString(),
});
