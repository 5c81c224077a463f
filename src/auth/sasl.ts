// The server's side of SASL (RFC 4422) for every protocol with logins: what a client has to be asked, and what it has shown
// when nothing more is to be asked. Without sockets and without judging: whether a credential opens an account is
// protocol-login's business, how challenges look on the wire the protocol's. PLAIN (RFC 4616), LOGIN
// (draft-murchison-sasl-login), OAUTHBEARER (RFC 7628), XOAUTH2 (Google's forerunner of it).
import { isUtf8 } from 'node:buffer';

export const MECHANISMS = ['PLAIN', 'LOGIN', 'OAUTHBEARER', 'XOAUTH2'] as const;
export type Mechanism = (typeof MECHANISMS)[number];

/**
 * What a server announces. All mechanisms are always taken, with keys too; those for tokens are announced only where an identity provider
 * makes tokens, because programs prefer them and then ask their user for a token that does not exist.
 */
export const announcedMechanisms = (takesTokens: boolean): readonly Mechanism[] =>
  MECHANISMS.filter((mechanism) => takesTokens || (mechanism !== 'OAUTHBEARER' && mechanism !== 'XOAUTH2'));

/** What a client showed to be let in. */
export interface Shown {
  /** Who it says it is; every one of them has to be right, and there may be none beside a bearer token. */
  readonly names: readonly string[];
  /** An API key or a token. */
  readonly credential: string;
}

export type SaslStep =
  /** To be sent; `next` takes the response to it. */
  | { readonly kind: 'challenge'; readonly text: string; readonly next: (response: Buffer) => SaslStep }
  | { readonly kind: 'shown'; readonly shown: Shown }
  /** Not what the mechanism says. */
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

/** `name` in any case. */
export function mechanismOf(name: string): Mechanism | undefined {
  const upper = name.toUpperCase();
  return MECHANISMS.find((mechanism) => mechanism === upper);
}

/** `initial`: the response that came with the command; undefined when none did. */
export function beginExchange(mechanism: Mechanism, initial: Buffer | undefined): SaslStep {
  const { text, read } = FIRST[mechanism];
  return initial === undefined ? { kind: 'challenge', text, next: read } : read(initial);
}

/**
 * What mechanisms with tokens say of a failure before the protocol does (RFC 7628 §3.2.2); the client answers it with a
 * response that means nothing. Undefined for the others.
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

/** Undefined for what is no base64 (RFC 4648 §4), white space and missing padding included. */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

function plain(response: Buffer): SaslStep {
  const parts = textOf(response)?.split('\0');
  if (parts?.length !== 3) return MALFORMED;
  const [authorization, authentication, credential] = parts as [string, string, string];
  // Some clients put the only name into the first place.
  const names = [...new Set([authorization, authentication].filter((name) => name !== ''))];
  return names.length === 0 ? MALFORMED : shown(names, credential);
}

function loginName(response: Buffer): SaslStep {
  const name = textOf(response);
  if (name === undefined || name === '') return MALFORMED;
  const next = (answer: Buffer): SaslStep => {
    const credential = textOf(answer);
    return credential === undefined ? MALFORMED : shown([name], credential);
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
  return shown(name === undefined ? [] : [name], credential);
}

function xoauth2(response: Buffer): SaslStep {
  const [user, ...pairs] = pairsOf(response);
  const credential = bearerOf(pairs);
  if (user?.startsWith('user=') !== true || credential === undefined) return MALFORMED;
  const name = user.slice('user='.length);
  return shown(name === '' ? [] : [name], credential);
}

/** What stands between octets of value 1, two of which end it; none when it is malformed. */
function pairsOf(response: Buffer): readonly string[] {
  const text = textOf(response);
  return text?.endsWith(PAIR_END + PAIR_END) ? text.slice(0, -2).split(PAIR_END) : [];
}

/** '' when a client only asks what it would need (RFC 7628 §4.3). */
function bearerOf(pairs: readonly string[]): string | undefined {
  const value = pairs
    .find((pair) => /^auth=/i.test(pair))
    ?.slice('auth='.length)
    .trim();
  return value === '' ? '' : /^bearer +([!-~]+)$/i.exec(value ?? '')?.[1];
}

function shown(names: readonly string[], credential: string): SaslStep {
  return { kind: 'shown', shown: { names, credential } };
}

function textOf(octets: Buffer): string | undefined {
  return isUtf8(octets) ? octets.toString('utf8') : undefined;
}
