// The sessions of a listener that are logged in. A session ends when its login ends: the key was revoked, the account was deleted, or the
// token has expired.
import type { Observable } from 'rxjs';
import type { ProtocolLogin } from './protocol-login.js';

interface LoggedIn {
  readonly login: ProtocolLogin;
}

const EXPIRY_MS = 1000;

export class OpenLogins<S extends LoggedIn> implements Iterable<S> {
  readonly #sessions = new Set<S>();
  /** The sessions whose credential expires. */
  readonly #expiring = new Set<S>();
  readonly #stop: () => void;

  /** `ended$`: that of SignIn. `end`: called with each session whose login has ended. */
  constructor(ended$: Observable<(login: ProtocolLogin) => boolean>, end: (session: S) => void) {
    const ending = ended$.subscribe((isOver) => {
      for (const session of this.#sessions) if (isOver(session.login)) end(session);
    });
    const expiry = setInterval(() => {
      const now = Date.now();
      for (const session of this.#expiring) if (session.login.expiresAt! <= now) end(session);
    }, EXPIRY_MS).unref();
    this.#stop = () => {
      ending.unsubscribe();
      clearInterval(expiry);
    };
  }

  add(session: S): void {
    this.#sessions.add(session);
    if (session.login.expiresAt !== undefined) this.#expiring.add(session);
  }

  delete(session: S): void {
    this.#sessions.delete(session);
    this.#expiring.delete(session);
  }

  [Symbol.iterator](): Iterator<S> {
    return this.#sessions[Symbol.iterator]();
  }

  stop(): void {
    this.#stop();
  }
}
