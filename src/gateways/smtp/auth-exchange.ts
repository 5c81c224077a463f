// The AUTH command (RFC 4954): passes lines of base64 between the peer and sasl, then sends the listener's answer. It replaces the
// exchanges of smtp-server, which accept invalid base64, lack OAUTHBEARER and cannot say why a token was refused.
import type { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import {
  beginExchange,
  decodeBase64,
  type Failure,
  failureChallenge,
  type Mechanism,
  mechanismOf,
  type PresentedCredential,
  type SaslStep,
} from '../../auth/sasl.js';
import type { SmtpReply } from './replies.js';

export type AuthResult =
  /** `user` becomes the user of the session. */
  | { readonly user: unknown }
  | {
      readonly reply: SmtpReply;
      /** The failure that mechanisms with tokens report first; absent when the credential is not what failed. */
      readonly failure?: Failure;
      /** Whether the failure counts against the connection. */
      readonly isFailedLogin?: boolean;
    };

/** Judges the credentials and never rejects. `admit` counts the connection for the account, unless the account has too many. */
type Authenticator = (
  presented: PresentedCredential,
  session: SMTPConnection['session'],
  admit: (accountId: string) => boolean,
) => Promise<AuthResult>;

/** An authenticator that is bound to one connection. */
export type SessionAuthenticator = (
  presented: PresentedCredential,
  session: SMTPConnection['session'],
) => Promise<AuthResult>;

/** How a server that requires a login authenticates its peers. */
export interface Auth {
  readonly judge: Authenticator;
  /** The mechanisms that are announced; all known ones are accepted. */
  readonly mechanisms: readonly Mechanism[];
  /** Whether credentials may come without TLS. */
  readonly plaintext: boolean;
}

type Done = () => void;

const SYNTAX: SmtpReply = { code: 501, text: '5.5.4 Syntax: AUTH mechanism [initial-response]' };
const UNKNOWN: SmtpReply = { code: 504, text: '5.5.4 Mechanism not offered' };
const NOT_NOW: SmtpReply = { code: 503, text: '5.5.1 Already authenticated' };
// RFC 4954 §4: invalid base64 gets 5.5.2.
const MALFORMED: SmtpReply = { code: 501, text: '5.5.2 Malformed response' };
const CANCELLED: SmtpReply = { code: 501, text: '5.7.0 Authentication cancelled' };
const NEEDS_TLS: SmtpReply = { code: 538, text: '5.7.11 Encryption required, use STARTTLS first' };

/** `plaintext` says that credentials may come without TLS. */
export function authenticate(
  connection: SMTPConnection,
  command: string,
  judge: SessionAuthenticator,
  plaintext: boolean,
  done: Done,
): void {
  const begun = begin(connection, command, plaintext);
  if ('mechanism' in begun) new AuthExchange(connection, begun.mechanism, judge).take(begun.step, done);
  else {
    connection.send(begun.code, begun.text);
    done();
  }
}

function begin(
  { session, secure }: SMTPConnection,
  command: string,
  plaintext: boolean,
): SmtpReply | { readonly mechanism: Mechanism; readonly step: SaslStep } {
  const [, name, initial, ...more] = command.trim().split(/ +/);
  if (session.user) return NOT_NOW;
  if (!secure && !plaintext) return NEEDS_TLS;
  if (name === undefined || more.length > 0) return SYNTAX;
  const mechanism = mechanismOf(name);
  if (mechanism === undefined) return UNKNOWN;
  if (initial === undefined) return { mechanism, step: beginExchange(mechanism, undefined) };
  // RFC 4954 §4: `=` is an empty initial response.
  const response = initial === '=' ? Buffer.alloc(0) : decodeBase64(initial);
  return response === undefined ? MALFORMED : { mechanism, step: beginExchange(mechanism, response) };
}

class AuthExchange {
  readonly #connection: SMTPConnection;
  readonly #mechanism: Mechanism;
  readonly #judge: SessionAuthenticator;

  constructor(connection: SMTPConnection, mechanism: Mechanism, judge: SessionAuthenticator) {
    this.#connection = connection;
    this.#mechanism = mechanism;
    this.#judge = judge;
  }

  take(step: SaslStep, done: Done): void {
    if (step.kind === 'malformed') this.#end(MALFORMED, done);
    else if (step.kind === 'presented') void this.#judged(step.presented, done);
    else this.#ask(step.text, (response, then) => this.take(step.next(response), then), done);
  }

  async #judged(presented: PresentedCredential, done: Done): Promise<void> {
    const connection = this.#connection;
    const result = await this.#judge(presented, connection.session);
    if ('user' in result) {
      connection.session.user = result.user;
      connection.session.transmissionType = connection._transmissionType();
      this.#end({ code: 235, text: '2.7.0 Authentication successful' }, done);
      return;
    }
    const { reply, failure } = result;
    const challenge = failure === undefined ? undefined : failureChallenge(this.#mechanism, failure);
    if (challenge === undefined) this.#end(reply, done);
    else this.#ask(challenge, (_, then) => this.#end(reply, then), done);
  }

  #ask(text: string, answered: (response: Buffer, done: Done) => void, done: Done): void {
    this.#connection._nextHandler = (line: Buffer, then: Done) => {
      const response = line.toString('latin1').trim();
      const octets = decodeBase64(response);
      if (response === '*') this.#end(CANCELLED, then);
      else if (octets === undefined) this.#end(MALFORMED, then);
      else answered(octets, then);
    };
    this.#connection.send(334, Buffer.from(text).toString('base64'));
    done();
  }

  #end({ code, text }: SmtpReply, done: Done): void {
    this.#connection.send(code, text);
    done();
  }
}
