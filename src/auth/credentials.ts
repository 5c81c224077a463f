// Finds the principal of a credential, for every gateway. The directory checks API keys; a token of the identity provider is verified
// first, and then opens or creates its account. A credential of one kind is never tried as the other. A credential that opened an account
// is remembered by its hash for 30 s, or until its token expires, its key is revoked or its account is deleted
// (docs/interface/credentials.md, "Remembered credentials").
import { hash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import type { Directory, LoginRefusal, Principal } from '../actors/directory/protocol.js';
import { lruCache } from '../concurrency/lru-cache.js';
import { isToken, type TokenVerifier, type VerifiedToken } from './oidc/token-verifier.js';
import type { Tally } from './rates.js';

export interface KnownIdentity {
  readonly kind: 'known';
  readonly principal: Principal;
  /** In ms since the epoch; only for tokens and sessions. */
  readonly expiresAt: number | undefined;
}

export type Identity =
  | KnownIdentity
  /** A valid token that names no user. */
  | { readonly kind: 'nameless'; readonly expiresAt: number }
  /** The credential is valid but opens no account. */
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'invalid' }
  /** The credential is invalid, like too many others from this network. */
  | { readonly kind: 'limited'; readonly waitSeconds: number };

export interface CredentialsOptions {
  readonly directory: Pick<
    Directory,
    'authenticate' | 'login' | 'noteUse' | 'revokedKeys$' | 'deletedAccounts$' | 'missedChanges$'
  >;
  /** Absent when no identity provider is configured. */
  readonly tokens?: TokenVerifier;
  /**
   * The period in which this node learns of every revocation before it is confirmed; undefined when it may have missed some. Credentials
   * that were remembered in another period are not valid. By default there is one period.
   */
  readonly period?: () => number | undefined;
  /** ms of a clock that does not jump. */
  readonly now?: () => number;
}

const REFUSALS: Readonly<Record<LoginRefusal, string>> = {
  noEmail: 'There is no account for this login yet, and its token names no usable email address to make one with.',
  unverified: 'The identity provider does not vouch for the email address of this login.',
  taken: 'The email address of this login belongs to another account.',
};

const INVALID: Identity = { kind: 'invalid' };
/** How long a lost notice can keep a revoked key valid. */
const TTL_MS = 30_000;
const MOST_REMEMBERED = 32_768;

export class Credentials {
  readonly #directory: CredentialsOptions['directory'];
  readonly #tokens: TokenVerifier | undefined;
  readonly #period: () => number | undefined;
  #lastPeriod: number | undefined;
  /** Keyed by the SHA-256 of the credential. */
  readonly #remembered: LRUCache<string, KnownIdentity>;
  /** Remembered hashes by key id and by account id. */
  readonly #hashes = new Map<string, Set<string>>();
  /** Rises with every drop: the result of an earlier look-up is not remembered afterwards. */
  #drops = 0;
  /** True when notices have failed; then nothing is remembered. */
  #isUninformed = false;

  constructor({ directory, tokens, period = () => 0, now = () => performance.now() }: CredentialsOptions) {
    this.#directory = directory;
    this.#tokens = tokens;
    this.#period = period;
    this.#lastPeriod = period();
    this.#remembered = lruCache(MOST_REMEMBERED, {
      ttl: TTL_MS,
      ttlResolution: 0,
      perf: { now },
      dispose: ({ principal }, hash) => this.#unlist(principal, hash),
    });
    const error = () => {
      this.#isUninformed = true;
      this.#dropAll();
    };
    // Unclaimed mailboxes are deleted by the thousand: the cost of a notice must not depend on the number of remembered credentials.
    const drop = (id: string) => this.#drop(id);
    directory.revokedKeys$.subscribe({ next: drop, error });
    directory.deletedAccounts$.subscribe({ next: drop, error });
    directory.missedChanges$.subscribe({ next: () => this.#dropAll(), error });
  }

  /** Whether an identity provider is configured. */
  get takesTokens(): boolean {
    return this.#tokens !== undefined;
  }

  /** The identity of a remembered credential; undefined when `identify` must be called. */
  known(credential: string): KnownIdentity | undefined {
    const period = this.#period();
    if (period !== this.#lastPeriod) {
      this.#lastPeriod = period;
      this.#dropAll();
    }
    if (period === undefined) return undefined;
    const known = this.#remembered.get(hashOf(credential));
    if (known === undefined || hasExpired(known)) return undefined;
    const { keyId } = known.principal;
    if (keyId !== null) this.#directory.noteUse(keyId);
    return known;
  }

  /** `tally`: counts a credential that opens no account; absent when the caller counts. @throws ProviderUnavailable, StoreFault */
  async identify(credential: string, tally?: Tally): Promise<Identity> {
    const known = this.known(credential);
    if (known !== undefined) return known;
    const drops = this.#drops;
    const identity = await (isToken(credential) ? this.#ofToken(credential) : this.#ofKey(credential));
    if (identity.kind === 'known') {
      const period = this.#period();
      const isOnePeriod = period !== undefined && period === this.#lastPeriod;
      const isCertain = drops === this.#drops && isOnePeriod && !this.#isUninformed;
      if (isCertain && !hasExpired(identity)) this.#remember(hashOf(credential), identity);
      return identity;
    }
    const waitSeconds = tally?.recordFailure() ?? 0;
    return waitSeconds > 0 ? { kind: 'limited', waitSeconds } : identity;
  }

  /**
   * The identity of the session in a cookie; undefined when there is none: the request then counts as one without a cookie. A cookie that
   * has ended is no guess, so it counts as no wrong credential. @throws StoreFault
   */
  session(cookie: string): KnownIdentity | undefined | Promise<KnownIdentity | undefined> {
    const known = this.known(cookie);
    if (known !== undefined) return sessionIn(known);
    return isToken(cookie) ? undefined : this.identify(cookie).then(sessionIn);
  }

  async #ofKey(key: string): Promise<Identity> {
    const principal = await this.#directory.authenticate(key);
    return principal === undefined ? INVALID : { kind: 'known', principal, expiresAt: principal.sessionEnd };
  }

  async #ofToken(credential: string): Promise<Identity> {
    const token = await this.#tokens?.verify(credential);
    return token === undefined ? INVALID : this.ofUser(token, credential);
  }

  /**
   * The identity of a user of the identity provider. `accessToken`: for the provider's further claims about the user.
   * @throws ProviderUnavailable, StoreFault
   */
  async ofUser(token: VerifiedToken, accessToken: string): Promise<Identity> {
    const directory = this.#directory;
    const { subject, expiresAt } = token;
    if (subject === undefined) return { kind: 'nameless', expiresAt };
    let login = await directory.login({ ...token, subject });
    if (login.refusal === 'noEmail' && this.#tokens !== undefined) {
      const claims = await this.#tokens.userInfo(accessToken, subject);
      // The address and its verification must come from one document.
      const { email, emailVerified, name = token.name } = claims;
      if (email !== undefined) login = await directory.login({ ...token, subject, email, emailVerified, name });
    }
    if (login.refusal !== undefined) return { kind: 'refused', detail: REFUSALS[login.refusal] };
    return { kind: 'known', principal: login.principal, expiresAt };
  }

  #remember(hash: string, identity: KnownIdentity): void {
    this.#remembered.set(hash, identity);
    for (const id of idsOf(identity.principal)) {
      const hashes = this.#hashes.get(id) ?? new Set();
      this.#hashes.set(id, hashes.add(hash));
    }
  }

  #unlist(principal: Principal, hash: string): void {
    for (const id of idsOf(principal)) {
      const hashes = this.#hashes.get(id);
      hashes?.delete(hash);
      if (hashes?.size === 0) this.#hashes.delete(id);
    }
  }

  /** `id`: the id of a key or an account. */
  #drop(id: string): void {
    this.#drops++;
    for (const hash of [...(this.#hashes.get(id) ?? [])]) this.#remembered.delete(hash);
  }

  #dropAll(): void {
    this.#drops++;
    this.#remembered.clear();
  }
}

function sessionIn(identity: Identity): KnownIdentity | undefined {
  return identity.kind === 'known' && identity.principal.sessionEnd !== undefined ? identity : undefined;
}

function idsOf({ keyId, accountId }: Principal): readonly string[] {
  return keyId === null ? [accountId] : [accountId, keyId];
}

export function hasExpired({ expiresAt }: Pick<KnownIdentity, 'expiresAt'>): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}

function hashOf(credential: string): string {
  return hash('sha256', credential, 'base64');
}
