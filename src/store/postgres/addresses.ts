// Additional addresses of an account. Asking for one takes nothing from anybody; verifying it makes the account the owner.
import { type AccountAddress, DirectoryConflict } from '../directory.js';
import { domainOf, findOwner, insertAddress, lockDomain } from './address-rows.js';
import type { Sql } from './client.js';
import { announce } from './directory-changes.js';
import { handOverHeld } from './held.js';

export async function addAddress(
  sql: Sql,
  accountId: string,
  address: string,
  verified: boolean,
): Promise<AccountAddress> {
  return sql.begin(async (tx) => {
    await lockDomain(tx, domainOf(address));
    const owner = await findOwner(tx, address);
    if (owner !== undefined && !owner.held) throw new DirectoryConflict(`the address ${address} is taken`);
    if (owner !== undefined && verified) await handOverHeld(tx, owner.accountId, accountId);
    const added = await insertAddress(tx, { accountId, address, verified, held: false });
    if (added === undefined) throw new DirectoryConflict(`the account has the address ${address} already`);
    await announce(tx, { kind: 'address', address });
    return added;
  });
}
