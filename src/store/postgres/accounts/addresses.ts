// Additional addresses of an account. A request for one changes no owner; the verification makes the account the owner.

import {
  type AccountAddress,
  type AddressRequest,
  DirectoryConflict,
  type VerificationRates,
} from '../../directory.js';
import { newId } from '../../ids/new-id.js';
import type { Sql } from '../driver/client.js';
import {
  addressColumns,
  domainOf,
  findOwner,
  findRoutes,
  insertAddress,
  lockDomain,
  refuseAlias,
} from './address-rows.js';
import { lockAddresses, recordMail } from './address-verifications.js';
import { announce } from './directory-changes.js';
import { moveUnclaimed } from './unclaimed-mailboxes.js';

export async function addAddress(
  sql: Sql,
  accountId: string,
  address: string,
  verified: boolean,
): Promise<AccountAddress> {
  return sql.begin(async (tx) => {
    await lockDomain(tx, domainOf(address));
    const owner = await findOwner(tx, address);
    if (owner !== undefined && !owner.isUnclaimed) throw new DirectoryConflict(`the address ${address} is taken`);
    await refuseAlias(tx, address);
    if (owner !== undefined && verified) await moveUnclaimed(tx, owner.accountId, [accountId]);
    const added = await insertAddress(tx, { accountId, address, verified, isUnclaimed: false });
    if (added === undefined) throw new DirectoryConflict(`the account has the address ${address} already`);
    await announce(tx, { kind: 'address', address });
    return added;
  });
}

export async function addForwardingTarget(sql: Sql, accountId: string, address: string): Promise<AccountAddress> {
  return sql.begin(async (tx) => {
    await lockDomain(tx, domainOf(address));
    const [route] = await findRoutes(tx, [address]);
    if (route === undefined || ('isUnclaimed' in route && route.isUnclaimed))
      throw new DirectoryConflict(`no account and no alias has the address ${address}`);
    if ('accountId' in route && route.accountId === accountId)
      throw new DirectoryConflict(`the account has the address ${address} itself: its mail comes there anyway`);
    const [added] = await tx<[AccountAddress]>`
      insert into addresses (id, address, account_id, domain, verified, forwarding_only)
      values (${newId()}, ${address}, ${accountId}, ${domainOf(address)}, false, true)
      on conflict (account_id, address) do update set forwarding_only = true
      returning ${addressColumns(tx)}`;
    return added;
  });
}

export async function isForwardingTarget(sql: Sql, accountId: string, address: string): Promise<boolean> {
  const rows = await sql`
    select from addresses where account_id = ${accountId} and address = ${address} and forwarding_only`;
  return rows.length > 0;
}

/** Stores only the hash of the token that will verify the address. */
export async function requestAddress(
  sql: Sql,
  accountId: string,
  address: string,
  verificationHash: string,
  limit: number,
  rates?: VerificationRates,
): Promise<AddressRequest> {
  return sql.begin(async (tx): Promise<AddressRequest> => {
    await lockAddresses(tx, accountId);
    const [account] = await tx<{ email: string; isUnclaimed: boolean; additional: number }[]>`
      select email, unclaimed as "isUnclaimed",
        (select count(*)::integer from addresses a where a.account_id = accounts.id and a.address <> email) as additional
      from accounts where id = ${accountId} for key share`;
    if (account === undefined || account.isUnclaimed) return { kind: 'noAccount' };
    if (account.email === address) return { kind: 'own' };
    const [known] = await tx`select id from addresses where account_id = ${accountId} and address = ${address}`;
    if (known !== undefined) return { kind: 'known' };
    if (account.additional >= limit) return { kind: 'full' };
    const refusal = rates && (await recordMail(tx, accountId, address, rates));
    if (refusal !== undefined) return refusal;
    const sentAt = rates === undefined ? tx`null` : tx`now()`;
    const [added] = await tx<[AccountAddress]>`
      insert into addresses (id, address, account_id, domain, verified, verification_hash, verification_sent_at)
      values (${newId()}, ${address}, ${accountId}, ${domainOf(address)}, false, ${verificationHash}, ${sentAt})
      returning ${addressColumns(tx)}`;
    return { kind: 'added', address: added };
  });
}

export async function deleteAddress(sql: Sql, accountId: string, addressId: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [gone] = await tx<{ address: string }[]>`
      delete from addresses a using accounts owner
      where a.id = ${addressId} and a.account_id = ${accountId} and owner.id = a.account_id and owner.email <> a.address
      returning a.address`;
    if (gone !== undefined) await announce(tx, { kind: 'address', address: gone.address });
    return gone !== undefined;
  });
}
