// Logins at a listener of a mail protocol (submission, IMAP, POP3): whether a credential may be shown, its SASL exchange, and the reply to
// each outcome. sign-in judges, delays, counts and logs the attempts. A protocol gives its replies (`LoginReplies`), and its connections
// open the session and limit their failures (`LoginConnection`).
import type { Logger } from 'pino';
import type { Scope } from '../store/directory.js';
import type { ProtocolLogin } from './protocol-login.js';
import type { Failure, Mechanism, PresentedCredential } from './sasl.js';
import { type EmptyExchange, type ExchangeOptions, exchange, type Judged } from './sasl-exchange.js';
import { isLoginFailure, type LoginFailure, type LoginProtocol, type SignIn } from './sign-in.js';

/** `R`: a reply of the protocol. */
export interface LoginReplies<R> extends Readonly<Record<LoginFailure | EmptyExchange | 'needsTls' | 'full', R>> {
  fault(error: unknown): R;
}

/** A connection on which somebody logs in. */
export interface LoginConnection<R> {
  readonly remoteAddress: string;
  readonly isSecure: boolean;
  /** Takes the connection from the account's share; false when the share is used up. */
  admit(accountId: string): boolean;
  /** Opens the session; returns the reply. */
  open(login: ProtocolLogin): Promise<R> | R;
  /** Counts a failed login; ends the connection after too many. A reply that it returns replaces the reply to the failure. */
  loginFailed(): R | undefined;
}

export interface ListenerLoginsOptions<R> {
  readonly protocol: LoginProtocol;
  /** A key needs one of these. */
  readonly scopes: readonly Scope[];
  readonly signIn: Pick<SignIn, 'attempt' | 'mechanisms'>;
  /** Whether credentials may come without TLS. */
  readonly allowPlaintextAuth: boolean;
  readonly replies: LoginReplies<R>;
  /** Whether a client may also cancel in answer to the report of a failure (RFC 4954 §4). */
  readonly cancelsAfterFailure?: boolean;
  readonly log: Logger;
}

/** The failures that mechanisms with tokens report before the reply. */
const REPORTED: Readonly<Record<LoginFailure, Failure | undefined>> = {
  wrong: 'invalidToken',
  scopeMissing: 'insufficientScope',
  limited: undefined,
};

type Begun = Pick<ExchangeOptions<Judged>, 'name' | 'initial' | 'ask'>;

export class ListenerLogins<R extends object> {
  readonly #options: ListenerLoginsOptions<R>;

  constructor(options: ListenerLoginsOptions<R>) {
    this.#options = options;
  }

  /** The mechanisms that are announced; all known ones are accepted. */
  get mechanisms(): readonly Mechanism[] {
    return this.#options.signIn.mechanisms;
  }

  /** Credentials are accepted only with TLS, unless the operator allows plain text. */
  mayShowCredentials({ isSecure }: { readonly isSecure: boolean }): boolean {
    return isSecure || this.#options.allowPlaintextAuth;
  }

  /** Returns undefined when a login may be tried on the connection. */
  refusal(connection: { readonly isSecure: boolean }): R | undefined {
    return this.mayShowCredentials(connection) ? undefined : this.#options.replies.needsTls;
  }

  async logIn(connection: LoginConnection<R>, presented: PresentedCredential): Promise<R> {
    return (await this.#judge(connection, presented)).reply;
  }

  /** Runs a SASL exchange. */
  async authenticate(connection: LoginConnection<R>, begun: Begun): Promise<R> {
    const { replies, cancelsAfterFailure = false } = this.#options;
    const judge = (presented: PresentedCredential) => this.#judge(connection, presented);
    const end = await exchange({ ...begun, judge, cancelsAfterFailure });
    return typeof end === 'string' ? replies[end] : end.reply;
  }

  async #judge(
    connection: LoginConnection<R>,
    presented: PresentedCredential,
  ): Promise<Judged & { readonly reply: R }> {
    const { protocol, scopes, signIn, replies, log } = this.#options;
    const { remoteAddress, isSecure } = connection;
    const admit = (accountId: string) => connection.admit(accountId);
    const result = await signIn.attempt({ protocol, presented, scopes, remoteAddress, isSecure, admit, log });
    if (isLoginFailure(result.kind)) {
      const last = connection.loginFailed();
      return last === undefined ? { reply: replies[result.kind], failure: REPORTED[result.kind] } : { reply: last };
    }
    switch (result.kind) {
      case 'open':
        return { reply: await connection.open(result.login) };
      case 'full':
        return { reply: replies.full };
      case 'fault':
        return { reply: replies.fault(result.error) };
    }
  }
}
