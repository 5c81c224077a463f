// The server side of SASL (RFC 4422) for every protocol with logins: the challenges to a client, and the credential that it has presented in
// the end. Uses no sockets and judges nothing: protocol-login decides whether a credential opens an account, and the protocol defines how
// challenges look on the wire. PLAIN (RFC 4616), LOGIN (draft-murchison-sasl-login), OAUTHBEARER (RFC 7628), XOAUTH2 (Google's predecessor
// of it).
import { isUtf8 } from 'node:buffer';

export const MECHANISMS = ['PLAIN', 'LOGIN', 'OAUTHBEARER', 'XOAUTH2'] as const;
export type Mechanism = (typeof MECHANISMS)[number];

/**
 * The mechanisms that a server announces. All mechanisms are always accepted, also with keys. Token mechanisms are announced only when an
 * identity provider issues tokens, because programs prefer them and would ask their user for a token that does not exist.
 */
export const announcedMechanisms = (takesTokens: boolean): readonly Mechanism[] =>
  MECHANISMS.filter((mechanism) => takesTokens || (mechanism !== 'OAUTHBEARER' && mechanism !== 'XOAUTH2'));

/** What a client has shown to log in. */
export interface PresentedCredential {
  /** The names that the client claims; each must be right. With a bearer token there may be none. */
  readonly names: readonly string[];
  /** An API key or a token. */
  readonly credential: string;
}

export type SaslStep =
  /** The server sends `text`; `next` handles the response. */
  | { readonly kind: 'challenge'; readonly text: string; readonly next: (response: Buffer) => SaslStep }
  | { readonly kind: 'presented'; readonly presented: PresentedCredential }
  /** The response does not follow the mechanism. */
  | { readonly kind: 'malformed' };

export type Failure = 'invalidToken' | 'insufficientScope';

const PAIR_END = '\u0001';
const MALFORMED: SaslStep = { kind: 'malformed' };

const FIRST: Readonly<Record<Mechanism, { readonly text: string; readonly read: (response: Buffer) => SaslStep }>> = {
  PLAIN: { text: '', read: plain },
  LOGIN: { text: 'Username:', read: loginName },
  OAUTHBEARER: { text: '', read: oauthBearer },
  XOAUTH2: { text: '', read: xoauth2 },
};

/** `name` is compared without regard to case. */
export function mechanismOf(name: string): Mechanism | undefined {
  const upper = name.toUpperCase();
  return MECHANISMS.find((mechanism) => mechanism === upper);
}

/** `initial`: the response in the command; undefined when there is none. */
export function beginExchange(mechanism: Mechanism, initial: Buffer | undefined): SaslStep {
  const { text, read } = FIRST[mechanism];
  return initial === undefined ? { kind: 'challenge', text, next: read } : read(initial);
}

/**
 * The failure report that token mechanisms send before the protocol's reply (RFC 7628 §3.2.2); the client's response to it has no meaning.
 * Undefined for other mechanisms.
 */
export function failureChallenge(mechanism: Mechanism, failure: Failure): string | undefined {
  if (mechanism === 'OAUTHBEARER') {
    return JSON.stringify({ status: failure === 'invalidToken' ? 'invalid_token' : 'insufficient_scope' });
  }
  if (mechanism === 'XOAUTH2') {
    return JSON.stringify({ status: failure === 'invalidToken' ? '401' : '403', schemes: 'bearer' });
  }
  return undefined;
}

/** Undefined when the text is not base64 (RFC 4648 §4), such as white space or missing padding. */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

function plain(response: Buffer): SaslStep {
  const parts = textOf(response)?.split('\0');
  if (parts?.length !== 3) return MALFORMED;
  const [authorization, authentication, credential] = parts as [string, string, string];
  // Some clients send the only name in the first place.
  const names = [...new Set([authorization, authentication].filter((name) => name !== ''))];
  return names.length === 0 ? MALFORMED : presented(names, credential);
}

function loginName(response: Buffer): SaslStep {
  const name = textOf(response);
  if (name === undefined || name === '') return MALFORMED;
  const next = (answer: Buffer): SaslStep => {
    const credential = textOf(answer);
    return credential === undefined ? MALFORMED : presented([name], credential);
  };
  return { kind: 'challenge', text: 'Password:', next };
}

/** RFC 7628 §3.1: a GS2 header (RFC 5801 §4), then pairs. */
function oauthBearer(response: Buffer): SaslStep {
  const [header, ...pairs] = pairsOf(response);
  const gs2 = /^[ny],(?:a=([^,]+))?,$/.exec(header ?? '');
  const credential = bearerOf(pairs);
  if (gs2 === null || credential === undefined) return MALFORMED;
  const name = gs2[1]?.replace(/=2C/gi, ',').replace(/=3D/gi, '=');
  return presented(name === undefined ? [] : [name], credential);
}

function xoauth2(response: Buffer): SaslStep {
  const [user, ...pairs] = pairsOf(response);
  const credential = bearerOf(pairs);
  if (user?.startsWith('user=') !== true || credential === undefined) return MALFORMED;
  const name = user.slice('user='.length);
  return presented(name === '' ? [] : [name], credential);
}

/** The parts between octets of value 1, two of which end the response; empty when it is malformed. */
function pairsOf(response: Buffer): readonly string[] {
  const text = textOf(response);
  return text?.endsWith(PAIR_END + PAIR_END) ? text.slice(0, -2).split(PAIR_END) : [];
}

/** Returns '' when a client only asks for the requirements (RFC 7628 §4.3). */
function bearerOf(pairs: readonly string[]): string | undefined {
  const value = pairs
    .find((pair) => /^auth=/i.test(pair))
    ?.slice('auth='.length)
    .trim();
  return value === '' ? '' : /^bearer +([!-~]+)$/i.exec(value ?? '')?.[1];
}

function presented(names: readonly string[], credential: string): SaslStep {
  return { kind: 'presented', presented: { names, credential } };
}

function textOf(octets: Buffer): string | undefined {
  return isUtf8(octets) ? octets.toString('utf8') : undefined;
}
