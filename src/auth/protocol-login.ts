// Logins of the mail protocols: a name with a key or token, judged for the scopes of the protocol, and remembered for 30 s
// (docs/interface/credentials.md). When a key is revoked or an account deleted, its logins are forgotten at once, and the gateways are
// notified and end the sessions.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { map, merge, type Observable, Subject } from 'rxjs';
import type { Directory, Principal } from '../directory/protocol.js';
import type { Scope } from '../store/directory.js';
import { identify } from './credentials.js';
import type { TokenVerifier } from './oidc/token-verifier.js';
import type { Shown } from './sasl.js';

export interface ProtocolLoginOptions {
  readonly directory: Pick<Directory, 'authenticate' | 'login' | 'isAddressOf' | 'revokedKeys$' | 'deletedAccounts$'>;
  /** None when no identity provider is configured. */
  readonly tokens?: TokenVerifier;
  /** ms of a clock that does not jump. */
  readonly now?: () => number;
}

/** What a session goes on. */
export interface ProtocolLogin {
  readonly principal: Principal;
  /** The key has one of these. */
  readonly scopes: readonly Scope[];
  /** ms since the epoch; of tokens. */
  readonly expiresAt: number | undefined;
  readonly credential: string;
}

export type LoginOutcome =
  | { readonly kind: 'open'; readonly login: ProtocolLogin }
  /** No such credential, or one of somebody else than the name says. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'scopeMissing' };

interface Known {
  readonly principal: Principal;
  readonly expiresAt: number | undefined;
}

const TTL_MS = 30_000;
const MOST_KNOWN = 10_000;
const LONGEST_CREDENTIAL = 8192;

export class ProtocolLogins {
  /** Tells which logins are over; for the sessions that are open. */
  readonly ended$: Observable<(login: ProtocolLogin) => boolean>;
  readonly #options: ProtocolLoginOptions;
  /** By SHA-256 of the credential. */
  readonly #known: LRUCache<string, Known>;
  readonly #ended = new Subject<(login: ProtocolLogin) => boolean>();
  /** Rises with every drop: what was looked up before is not to be relied on after. */
  #drops = 0;

  constructor(options: ProtocolLoginOptions) {
    this.#options = options;
    const { now = () => performance.now() } = options;
    this.#known = new LRUCache({ max: MOST_KNOWN, ttl: TTL_MS, ttlResolution: 0, perf: { now } });
    this.ended$ = this.#ended.asObservable();
    const { revokedKeys$, deletedAccounts$ } = options.directory;
    merge(
      of(revokedKeys$, (id, { keyId }) => keyId === id),
      of(deletedAccounts$, (id, { accountId }) => accountId === id),
    ).subscribe((isOver) => this.#drop(isOver));
  }

  /** A key needs one of the scopes. @throws StoreFault, ProviderUnavailable */
  async open(shown: Shown, scopes: readonly Scope[]): Promise<LoginOutcome> {
    const { names, credential } = shown;
    if (credential.length > LONGEST_CREDENTIAL) return { kind: 'wrong' };
    const drops = this.#drops;
    const known = await this.#identity(credential);
    if (known === undefined) return { kind: 'wrong' };
    const { principal, expiresAt } = known;
    for (const name of names) {
      if (!(await this.#options.directory.isAddressOf(principal.accountId, name))) return { kind: 'wrong' };
    }
    if (drops !== this.#drops) return this.open(shown, scopes);
    if (!mayUse(principal, scopes)) return { kind: 'scopeMissing' };
    return { kind: 'open', login: { principal, scopes, expiresAt, credential } };
  }

  /** Whether a login still holds: asked before something is done in its name. @throws StoreFault, ProviderUnavailable */
  async holds({ principal, scopes, credential }: ProtocolLogin): Promise<boolean> {
    const known = await this.#identity(credential);
    if (known === undefined) return false;
    return known.principal.accountId === principal.accountId && mayUse(known.principal, scopes);
  }

  /** Undefined: the credential opens nothing. */
  async #identity(credential: string): Promise<Known | undefined> {
    const key = createHash('sha256').update(credential).digest('base64');
    const remembered = this.#known.get(key);
    if (remembered !== undefined && !hasExpired(remembered)) return remembered;
    const drops = this.#drops;
    const { directory, tokens } = this.#options;
    const identity = await identify(credential, directory, tokens);
    if (identity.kind !== 'known' || hasExpired(identity)) return undefined;
    const { principal, expiresAt } = identity;
    if (drops === this.#drops) this.#known.set(key, { principal, expiresAt });
    return { principal, expiresAt };
  }

  #drop(isOver: (principal: Principal) => boolean): void {
    this.#drops++;
    for (const [key, { principal }] of this.#known) if (isOver(principal)) this.#known.delete(key);
    this.#ended.next(({ principal }) => isOver(principal));
  }
}

function of(
  ids$: Observable<string>,
  isOf: (id: string, principal: Principal) => boolean,
): Observable<(principal: Principal) => boolean> {
  return ids$.pipe(map((id) => (principal: Principal) => isOf(id, principal)));
}

/** A login of the identity provider reaches all of its account, a key what its scopes say. */
function mayUse(principal: Principal, scopes: readonly Scope[]): boolean {
  return principal.keyId === null || scopes.some((scope) => principal.scopes.includes(scope));
}

function hasExpired({ expiresAt }: Pick<Known, 'expiresAt'>): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}
