// What `mansio setup` makes in the store: the domain with its keys, the account with its first key, and postmaster and abuse of the domain,
// which are delivered to it. What exists stays as it is.
import { randomBytes } from 'node:crypto';
import { newApiKey } from '../../actors/directory/api-key.js';
import type { Config } from '../../node/config/config.js';
import type { Account, DirectoryStore } from '../../store/directory.js';
import type { SigningKey } from '../../store/signing-keys.js';
import { hostDomain } from '../domain.js';
import { withNewStore } from '../store.js';
import type { FirstAccount } from './answers.js';

export interface StoreResult {
  /** What this run has added, in words. */
  readonly added: readonly string[];
  /** The first key of the account; null when the account was there. */
  readonly apiKey: string | null;
  /** The DKIM keys of the domain. */
  readonly keys: readonly SigningKey[];
}

/** RFC 2142 §5: addresses that every domain has. */
const ROLES = ['postmaster', 'abuse'];
const FIRST_KEY = 'first key, made by setup';
/** A mail program reads with one of the two, and sends with the other. */
const FIRST_SCOPES = ['app', 'smtp'] as const;

export async function prepareStore(config: Config, { domain, account: address }: FirstAccount): Promise<StoreResult> {
  return withNewStore(config, async (store) => {
    const { directory, signingKeys } = store;
    const added: string[] = [];
    const { added: isNew, made } = await hostDomain(store, domain);
    if (isNew) added.push(`the domain ${domain}`);
    if (made.length > 0) added.push(`DKIM keys: ${made.map(({ selector }) => selector).join(', ')}`);
    const { account, apiKey } = await firstAccount(directory, address, added);
    for (const role of ROLES) await deliverTo(account, `${role}@${domain}`, directory, added);
    const keys = (await signingKeys.all()).filter((key) => key.domain === domain);
    return { added, apiKey, keys };
  });
}

async function firstAccount(
  directory: DirectoryStore,
  address: string,
  added: string[],
): Promise<{ readonly account: Account; readonly apiKey: string | null }> {
  const found = await directory.accountByEmail(address);
  if (found !== undefined && !found.isUnclaimed) return { account: found, apiKey: null };
  const account = await directory.createAccount(address, address.slice(0, address.lastIndexOf('@')));
  const { apiKey, prefix, hash } = newApiKey(randomBytes);
  const key = { accountId: account.id, name: FIRST_KEY, scopes: FIRST_SCOPES, serviceWide: false, prefix, hash };
  await directory.createKey(key);
  added.push(`the account ${address}`);
  return { account, apiKey };
}

/** An address that another account has stays with it, and so does one that is an alias. */
async function deliverTo(account: Account, address: string, directory: DirectoryStore, added: string[]): Promise<void> {
  const route = await directory.routeOf(address);
  if (route !== undefined && ('alias' in route ? route.alias === address : !route.isUnclaimed)) return;
  await directory.addAddress(account.id, address, true);
  added.push(`${address}, delivered to ${account.email}`);
}
