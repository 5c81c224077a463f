// Credentials that end while clients are connected with them: revoked keys and deleted accounts. Recently ended ones are remembered,
// because a notice may arrive between the check of a key and the opening of the connection.
import type { Logger } from 'pino';
import { filter, type Observable, of, Subject, Subscription } from 'rxjs';
import type { Directory, Principal } from '../../actors/directory/protocol.js';
import { lruCache } from '../../concurrency/lru-cache.js';

export interface EndedCredential {
  readonly kind: 'key' | 'account';
  readonly id: string;
}

/** The number of keys and accounts that are remembered. */
const MOST_REMEMBERED = 1024;

export class EndedCredentials {
  /** Kinds and ids of the ended credentials. */
  readonly #remembered = lruCache<string, true>(MOST_REMEMBERED);
  readonly #ended$ = new Subject<EndedCredential>();
  readonly #subscription = new Subscription();

  constructor({ revokedKeys$, deletedAccounts$ }: Pick<Directory, 'revokedKeys$' | 'deletedAccounts$'>, log: Logger) {
    const follow = (kind: EndedCredential['kind'], ids$: Observable<string>) =>
      ids$.subscribe({
        next: (id) => this.#end({ kind, id }),
        error: (err) => log.error({ err, kind }, 'clients whose credential ends are not disconnected any more'),
      });
    this.#subscription.add(follow('key', revokedKeys$));
    this.#subscription.add(follow('account', deletedAccounts$));
  }

  /** Emits each credential when it ends. */
  get ended$(): Observable<EndedCredential> {
    return this.#ended$;
  }

  /** Whether the credential ended recently. */
  has({ accountId, keyId }: Pick<Principal, 'accountId' | 'keyId'>): boolean {
    if (this.#remembered.has(nameOf({ kind: 'account', id: accountId }))) return true;
    return keyId !== null && this.#remembered.has(nameOf({ kind: 'key', id: keyId }));
  }

  /** Emits when the credential has ended. */
  endOf(credential: Pick<Principal, 'accountId' | 'keyId'>): Observable<unknown> {
    return this.has(credential) ? of(true) : this.#ended$.pipe(filter((ended) => isMeant(ended, credential)));
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #end(ended: EndedCredential): void {
    this.#remembered.set(nameOf(ended), true);
    this.#ended$.next(ended);
  }
}

const nameOf = ({ kind, id }: EndedCredential): string => `${kind} ${id}`;

/** Whether the ended key or account is that of the credential. */
export function isMeant({ kind, id }: EndedCredential, credential: Pick<Principal, 'accountId' | 'keyId'>): boolean {
  return id === (kind === 'key' ? credential.keyId : credential.accountId);
}
