// Parses words of the command line to values; an invalid word is refused with one clear line.
import { canonicalAddress, hasTag } from '../mail-format/address.js';
import { isUuid } from '../mail-format/ids.js';
import { type Account, type DirectoryStore, SCOPES, type Scope } from '../store/directory.js';
import { CommandError } from './output.js';

const MAX_NAME = 200;

/** A canonical address that may belong to an account. */
export function newAddress(text: string): string {
  const address = canonicalAddress(text);
  if (address === undefined) throw new CommandError(`not an e-mail address: ${text}`);
  if (address.startsWith('*@'))
    throw new CommandError(
      `${address} is every address of a domain, and an account has single ones: lead the others to it (mansio alias add '${address}' --to ACCOUNT)`,
    );
  if (hasTag(text)) {
    throw new CommandError(`an address of an account has no +tag (mail for ${text} goes to ${address})`);
  }
  return address;
}

/** The account with this address or id. An unclaimed mailbox is not an account. */
export async function existingAccount(directory: DirectoryStore, text: string): Promise<Account> {
  const address = canonicalAddress(text);
  if (address === undefined && !isUuid(text)) throw new CommandError(`neither an e-mail address nor an id: ${text}`);
  const account = await (address === undefined ? directory.accountById(text) : accountOf(directory, address));
  if (account === undefined || account.isUnclaimed) throw new CommandError(`no such account: ${text}`);
  return account;
}

async function accountOf(directory: DirectoryStore, address: string): Promise<Account | undefined> {
  const owner = await directory.ownerOf(address);
  return owner === undefined ? undefined : directory.accountById(owner.accountId);
}

/** A name for people, of an account or a key. */
export function displayName(text: string, option: string): string {
  const name = text.trim();
  if (name === '') throw new CommandError(`${option} is empty`);
  if (name.length > MAX_NAME) throw new CommandError(`${option} is longer than ${MAX_NAME} characters`);
  if (/\p{Cc}/u.test(name)) throw new CommandError(`${option} contains control characters`);
  return name;
}

/** A domain name in lower case and ASCII. */
export function domainName(text: string): string {
  const address = canonicalAddress(`postmaster@${text.replace(/\.$/, '')}`);
  const name = address?.slice(address.lastIndexOf('@') + 1);
  if (name === undefined || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name) || /^[0-9.]+$/.test(name)) {
    throw new CommandError(`not a domain name: ${text}`);
  }
  return name;
}

/** A DKIM selector (RFC 6376 §3.1): labels of a name, in lower case. */
export function selectorName(text: string): string {
  const name = text.toLowerCase();
  if (name.length > 100 || !/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(name))
    throw new CommandError(`not a DKIM selector: ${text} (letters, digits and hyphens, such as mail or 2026.mx)`);
  return name;
}

export function keyScopes(texts: readonly string[]): readonly Scope[] {
  const unknown = texts.filter((text) => !SCOPES.some((scope) => scope === text));
  if (unknown.length > 0) {
    throw new CommandError(`unknown scope: ${unknown.join(', ')} (known are ${SCOPES.join(', ')})`);
  }
  const scopes = [...new Set(texts as readonly Scope[])];
  if (scopes.includes('internal') && scopes.length > 1) {
    throw new CommandError('the scope internal goes with no other: make a key of its own for it');
  }
  return scopes;
}

export function keyId(text: string): string {
  if (!isUuid(text)) throw new CommandError(`not the id of a key: ${text} (see mansio key list)`);
  return text.toLowerCase();
}

export function sessionId(text: string): string {
  if (!isUuid(text)) throw new CommandError(`not the id of a session: ${text} (see mansio account sessions)`);
  return text.toLowerCase();
}
