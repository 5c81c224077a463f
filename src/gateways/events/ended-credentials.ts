// Credentials that end while somebody is connected with them: keys that are revoked, accounts that are deleted. Those that
// ended a moment ago are remembered, because a notice may arrive between the check of a key and the opening of what it opens.
import type { Logger } from 'pino';
import { defer, filter, map, merge, type Observable, Subject, type Subscription, take } from 'rxjs';
import type { Directory, Principal } from '../../directory/protocol.js';

/** Ids of keys and accounts that are remembered. */
const MOST_REMEMBERED = 1024;

export class EndedCredentials {
  readonly #ids = new Set<string>();
  readonly #ended$ = new Subject<string>();
  readonly #subscription: Subscription;

  constructor({ revokedKeys$, deletedAccounts$ }: Pick<Directory, 'revokedKeys$' | 'deletedAccounts$'>, log: Logger) {
    this.#subscription = merge(revokedKeys$, deletedAccounts$).subscribe({
      next: (id) => this.#end(id),
      error: (err) =>
        log.error({ err }, 'event streams are not notified of revoked keys and deleted accounts any more'),
    });
  }

  /** Emits once, when the credential has ended. */
  endOf({ accountId, keyId }: Pick<Principal, 'accountId' | 'keyId'>): Observable<void> {
    const isMeant = (id: string) => id === accountId || id === keyId;
    return defer(() => merge([...this.#ids], this.#ended$)).pipe(
      filter(isMeant),
      take(1),
      map(() => undefined),
    );
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #end(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size > MOST_REMEMBERED) this.#ids.delete(this.#ids.values().next().value!);
    this.#ended$.next(id);
  }
}
