// Logins of the identity provider: this finds the account that a login opens, caches it for a short time, and creates or claims
// an account at the first login. The store decides who may have which address, in the same step that takes the address.
import { lruCache } from '../../concurrency/lru-cache.js';
import { canonicalAddress } from '../../mail-format/address.js';
import type { DirectoryStore, LoginAccount } from '../../store/directory.js';
import type { LoginClaims, LoginResult } from './protocol.js';

const MAX_LOGINS = 50_000;
const TTL_MS = 30_000;
const LONGEST_NAME = 200;

export class Logins {
  readonly #store: Pick<DirectoryStore, 'accountOfLogin' | 'provision'>;
  readonly #log: { info(fields: object, message: string): void };
  readonly #known = lruCache<string, LoginAccount>(MAX_LOGINS, { ttl: TTL_MS });
  /** Rises with every drop: an account that was looked up before a drop is not cached after it. */
  #drops = 0;

  constructor(
    store: Pick<DirectoryStore, 'accountOfLogin' | 'provision'>,
    log: { info(fields: object, message: string): void },
  ) {
    this.#store = store;
    this.#log = log;
  }

  async open(claims: LoginClaims): Promise<LoginResult> {
    const key = JSON.stringify([claims.issuer, claims.subject]);
    const drops = this.#drops;
    const found = this.#known.get(key) ?? (await this.#store.accountOfLogin(claims)) ?? (await this.#first(claims));
    if (typeof found === 'string') return { refusal: found };
    if (drops === this.#drops && !this.#known.has(key)) this.#known.set(key, found);
    const { id: accountId, email } = found;
    return { principal: { accountId, email, scopes: ['app'], keyId: null, serviceWide: false } };
  }

  async #first(claims: LoginClaims): Promise<LoginAccount | NonNullable<LoginResult['refusal']>> {
    const { issuer, subject, emailVerified } = claims;
    const email = claims.email === undefined ? undefined : canonicalAddress(claims.email);
    if (email === undefined) return 'noEmail';
    const displayName = nameOf(claims.name) || email.slice(0, email.lastIndexOf('@'));
    const result = await this.#store.provision({ issuer, subject, email, emailVerified, displayName });
    if (result.kind !== 'account') {
      this.#log.info({ issuer, refusal: result.kind }, 'first login refused');
      return result.kind;
    }
    this.#log.info({ issuer, accountId: result.account.id }, 'account claimed by its first login');
    return result.account;
  }

  dropAccount(accountId: string): void {
    this.#drops++;
    for (const [key, account] of this.#known) if (account.id === accountId) this.#known.delete(key);
  }

  clear(): void {
    this.#drops++;
    this.#known.clear();
  }
}

function nameOf(text = ''): string {
  const plain = text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').trim();
  return [...plain].slice(0, LONGEST_NAME).join('').trim();
}
