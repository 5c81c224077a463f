// Logins of the mail protocols: a name with a key or token, judged for the scopes of the protocol. When a key is revoked or an
// account deleted, the gateways are notified and end the sessions.
import { map, merge, type Observable, Subject } from 'rxjs';
import type { Directory, Principal } from '../directory/protocol.js';
import type { Scope } from '../store/directory.js';
import { type Credentials, hasExpired, type KnownIdentity } from './credentials.js';
import type { Shown } from './sasl.js';

export interface ProtocolLoginOptions {
  readonly directory: Pick<Directory, 'isAddressOf' | 'revokedKeys$' | 'deletedAccounts$'>;
  readonly credentials: Credentials;
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

const LONGEST_CREDENTIAL = 8192;

export class ProtocolLogins {
  /** Emits which logins are over; for the sessions that are open. */
  readonly ended$: Observable<(login: ProtocolLogin) => boolean>;
  readonly #options: ProtocolLoginOptions;
  readonly #ended = new Subject<(login: ProtocolLogin) => boolean>();
  /** Rises when a credential ends: what was looked up before is not to be relied on after. */
  #endings = 0;

  constructor(options: ProtocolLoginOptions) {
    this.#options = options;
    this.ended$ = this.#ended.asObservable();
    const { revokedKeys$, deletedAccounts$ } = options.directory;
    merge(
      of(revokedKeys$, (id, { keyId }) => keyId === id),
      of(deletedAccounts$, (id, { accountId }) => accountId === id),
    ).subscribe((isOver) => this.#end(isOver));
  }

  /** A key needs one of the scopes. @throws StoreFault, ProviderUnavailable */
  async open(shown: Shown, scopes: readonly Scope[]): Promise<LoginOutcome> {
    const { names, credential } = shown;
    if (credential.length > LONGEST_CREDENTIAL) return { kind: 'wrong' };
    const endings = this.#endings;
    const known = await this.#identity(credential);
    if (known === undefined) return { kind: 'wrong' };
    const { principal, expiresAt } = known;
    for (const name of names) {
      if (!(await this.#options.directory.isAddressOf(principal.accountId, name))) return { kind: 'wrong' };
    }
    if (endings !== this.#endings) return this.open(shown, scopes);
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
  async #identity(credential: string): Promise<KnownIdentity | undefined> {
    const identity = await this.#options.credentials.identify(credential);
    return identity.kind === 'known' && !hasExpired(identity) ? identity : undefined;
  }

  #end(isOver: (principal: Principal) => boolean): void {
    this.#endings++;
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
