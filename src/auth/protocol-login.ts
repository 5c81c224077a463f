// Logins of the mail protocols: a name with a key or token, checked for the scopes of the protocol. When a key is revoked or an account is
// deleted, the gateways are notified and end the sessions.
import { map, merge, type Observable, Subject } from 'rxjs';
import type { Directory, Principal } from '../actors/directory/protocol.js';
import type { Scope } from '../store/directory.js';
import { type Credentials, hasExpired, type KnownIdentity } from './credentials.js';
import type { PresentedCredential } from './sasl.js';

export interface ProtocolLoginOptions {
  readonly directory: Pick<Directory, 'isAddressOf' | 'revokedKeys$' | 'deletedAccounts$'>;
  readonly credentials: Credentials;
}

/** The login of a session. */
export interface ProtocolLogin {
  readonly principal: Principal;
  /** The key must have one of these. */
  readonly scopes: readonly Scope[];
  /** In ms since the epoch; only for tokens. */
  readonly expiresAt: number | undefined;
  readonly credential: string;
}

export type LoginOutcome =
  | { readonly kind: 'open'; readonly login: ProtocolLogin }
  /** There is no such credential, or it belongs to another user than the name. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'scopeMissing' };

const LONGEST_CREDENTIAL = 8192;

export class ProtocolLogins {
  /** Emits a test for logins that have ended; gateways apply it to open sessions. */
  readonly ended$: Observable<(login: ProtocolLogin) => boolean>;
  readonly #options: ProtocolLoginOptions;
  readonly #ended = new Subject<(login: ProtocolLogin) => boolean>();
  /** Rises when a credential ends: an earlier look-up is then no longer reliable. */
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
  async open(presented: PresentedCredential, scopes: readonly Scope[]): Promise<LoginOutcome> {
    const { names, credential } = presented;
    if (credential.length > LONGEST_CREDENTIAL) return { kind: 'wrong' };
    const endings = this.#endings;
    const known = await this.#identity(credential);
    if (known === undefined) return { kind: 'wrong' };
    const { principal, expiresAt } = known;
    for (const name of names) {
      if (!(await this.#options.directory.isAddressOf(principal.accountId, name))) return { kind: 'wrong' };
    }
    if (endings !== this.#endings) return this.open(presented, scopes);
    if (!mayUse(principal, scopes)) return { kind: 'scopeMissing' };
    return { kind: 'open', login: { principal, scopes, expiresAt, credential } };
  }

  /** Whether a login is still valid; called before something is done in its name. @throws StoreFault, ProviderUnavailable */
  async holds({ principal, scopes, credential }: ProtocolLogin): Promise<boolean> {
    const known = await this.#identity(credential);
    if (known === undefined) return false;
    return known.principal.accountId === principal.accountId && mayUse(known.principal, scopes);
  }

  /** Undefined when the credential opens no account. */
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

/** A token of the identity provider gives access to the whole account, a key only to its scopes. */
function mayUse(principal: Principal, scopes: readonly Scope[]): boolean {
  return principal.keyId === null || scopes.some((scope) => principal.scopes.includes(scope));
}
