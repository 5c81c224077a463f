// What `mansio setup` makes in the store: the domain with its keys, the account with its first key, and postmaster and abuse of the domain,
// which are delivered to it. What exists stays as it is.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newApiKey } from '../../actors/directory/api-key.js';
import type { Config } from '../../node/config/config.js';
import type { Account, DirectoryStore } from '../../store/directory.js';
import type { SigningKey } from '../../store/signing-keys.js';
import { hostDomain } from '../domain.js';
import { CommandError } from '../output.js';
import { withNewStore } from '../store.js';
import type { SetupAnswers } from './answers.js';
import type { SystemUser } from './system-user.js';

export interface StoreResult {
  /** What this run has added, in words. */
  readonly added: readonly string[];
  /** The first key of the account; null when the account was there. */
  readonly apiKey: string | null;
}

/** RFC 2142 §5: addresses that every domain has. */
const ROLES = ['postmaster', 'abuse'];
const FIRST_KEY = 'first key, made by setup';

/** `owner`: the user who will run the node, and gets the data directory. */
export async function prepareStore(
  config: Config,
  { domain, account: address }: SetupAnswers,
  owner: SystemUser | undefined,
): Promise<StoreResult & { readonly keys: readonly SigningKey[] }> {
  const { dataDir } = config;
  makeDataDirectory(dataDir);
  const result = await withNewStore(config, async (store) => {
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
  if (owner !== undefined) giveTo(owner, dataDir);
  return result;
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
  const key = { accountId: account.id, name: FIRST_KEY, scopes: ['app'] as const, serviceWide: false, prefix, hash };
  await directory.createKey(key);
  added.push(`the account ${address}`);
  return { account, apiKey };
}

/** An address that another account has stays with it. */
async function deliverTo(account: Account, address: string, directory: DirectoryStore, added: string[]): Promise<void> {
  const owner = await directory.ownerOf(address);
  if (owner !== undefined && !owner.isUnclaimed) return;
  await directory.addAddress(account.id, address, true);
  added.push(`${address}, delivered to ${account.email}`);
}

/** As root, the embedded database is made as a user who has to enter; the directory is closed when it is given away. */
function makeDataDirectory(dataDir: string): void {
  try {
    if (!existsSync(dataDir)) mkdirSync(dataDir, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new CommandError(`cannot make ${dataDir}: ${(error as Error).message}`);
  }
}

/** Changes nothing when the directory is the owner's: a node may be at work there. Its top is the last, so that a broken run is repeated. */
export function giveTo({ uid, gid }: SystemUser, path: string): void {
  if (lstatSync(path).uid === uid) return;
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true }))
    giveEntry(join(entry.parentPath, entry.name), uid, gid);
  lchownSync(path, uid, gid);
}

/** A file that is gone meanwhile needs no owner. */
function giveEntry(path: string, uid: number, gid: number): void {
  try {
    lchownSync(path, uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
