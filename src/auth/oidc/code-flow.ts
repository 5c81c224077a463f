// Signs people in at the identity provider: the authorization code flow with PKCE (OpenID Connect Core 1.0 §3.1, RFC 7636, RFC 9207). The
// node exchanges the code; the page only sends the browser to the provider, and hands in what it brings back. State, nonce and verifier
// come from one secret, which the browser keeps in a cookie that no script reads, so that every node can end a sign-in.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { fetchJson, ProviderRefusal } from './bounded-json.js';
import { KEY_SET_TIMING, type KeySet, type SignInEndpoints } from './key-set.js';
import { claimsOf, type TokenLog, type VerifiedToken, verifiedPayload } from './token-verifier.js';

export interface CodeFlowOptions {
  readonly keySet: KeySet;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** The timeout of the token endpoint. In ms. */
  readonly timeoutMs?: number;
  readonly log: TokenLog & { warn(fields: object, text: string): void };
}

export interface BegunSignIn {
  /** Where the browser goes. */
  readonly url: string;
  /** What the browser keeps until it is back. */
  readonly secret: string;
}

/** What the provider sends the browser back with. */
export interface ProviderAnswer {
  readonly code: string;
  readonly state: string;
  readonly issuer: string | undefined;
}

export type EndedSignIn =
  | { readonly kind: 'proven'; readonly token: VerifiedToken; readonly accessToken: string }
  /** The answer belongs to no sign-in that began with the secret. */
  | { readonly kind: 'foreign' }
  /** The provider does not take the code (any more). */
  | { readonly kind: 'spent' }
  /** The provider refuses this node, with an error code of OAuth, or its answer proves nothing. */
  | { readonly kind: 'failed'; readonly error: string | undefined };

const SCOPE = 'openid profile email';
const SECRET_OCTETS = 32;
const SECRET = /^[\w-]{43}$/;
/** The code is wrong, was used, has expired, or belongs to another verifier or redirect URI (RFC 6749 §5.2). */
const SPENT = 'invalid_grant';

export class CodeFlow {
  readonly #options: CodeFlowOptions;

  constructor(options: CodeFlowOptions) {
    this.#options = options;
  }

  /** `redirectUri`: the page to which the provider sends the browser back. @throws ProviderUnavailable */
  async begin(redirectUri: string): Promise<BegunSignIn> {
    const { keySet, clientId } = this.#options;
    const { authorization } = await keySet.signInEndpoints();
    const secret = randomBytes(SECRET_OCTETS).toString('base64url');
    const url = new URL(authorization);
    const query = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: SCOPE,
      state: partOf(secret, 'state'),
      nonce: partOf(secret, 'nonce'),
      code_challenge: createHash('sha256').update(partOf(secret, 'verifier')).digest('base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return { url: url.href, secret };
  }

  /** `secret`: of the browser that hands in the answer. @throws ProviderUnavailable */
  async end(secret: string | undefined, answer: ProviderAnswer, redirectUri: string): Promise<EndedSignIn> {
    if (secret === undefined || !SECRET.test(secret)) return { kind: 'foreign' };
    if (!isSame(answer.state, partOf(secret, 'state'))) return { kind: 'foreign' };
    const { keySet, log } = this.#options;
    const endpoints = await keySet.signInEndpoints();
    // A code of another provider must not be sent to this one (RFC 9207 §2.4).
    const isNamed = answer.issuer !== undefined || endpoints.namesIssuer;
    if (isNamed && answer.issuer !== (await keySet.issuer())) return { kind: 'foreign' };
    try {
      const tokens = await this.#exchange(endpoints, answer.code, redirectUri, partOf(secret, 'verifier'));
      return await this.#proven(tokens, partOf(secret, 'nonce'));
    } catch (error) {
      if (!(error instanceof ProviderRefusal)) throw error;
      if (error.error === SPENT) return { kind: 'spent' };
      log.warn({ err: error, error: error.error }, 'the identity provider refuses to exchange a code');
      return { kind: 'failed', error: error.error };
    }
  }

  #exchange({ token: url, takesSecretInBody }: SignInEndpoints, code: string, redirectUri: string, verifier: string) {
    const { clientId, clientSecret: secret, timeoutMs = KEY_SET_TIMING.timeoutMs } = this.#options;
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id: clientId,
    });
    if (secret === undefined) return fetchJson(url, timeoutMs, { form });
    if (takesSecretInBody) {
      form.set('client_secret', secret);
      return fetchJson(url, timeoutMs, { form });
    }
    return fetchJson(url, timeoutMs, { form, authorization: basic(clientId, secret) });
  }

  async #proven(tokens: Readonly<Record<string, unknown>>, nonce: string): Promise<EndedSignIn> {
    const { keySet, clientId, log } = this.#options;
    const { id_token: idToken, access_token: accessToken } = tokens;
    const isForm = typeof idToken === 'string' && typeof accessToken === 'string';
    const payload = isForm ? await verifiedPayload(idToken, { keySet, audience: clientId, log }) : undefined;
    if (isForm && payload !== undefined && payload['nonce'] === nonce && isFor(clientId, payload))
      return { kind: 'proven', token: claimsOf(payload), accessToken };
    log.warn({}, 'the ID token of the identity provider does not prove who has signed in');
    return { kind: 'failed', error: undefined };
  }
}

/** Knowing one part of the secret tells nothing about the others. */
function partOf(secret: string, part: 'state' | 'nonce' | 'verifier'): string {
  return createHmac('sha256', secret).update(part).digest('base64url');
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A token for several services names the one that asked for it (OpenID Connect Core 1.0 §3.1.3.7). */
function isFor(clientId: string, { aud, azp }: JWTPayload): boolean {
  return azp === undefined ? !Array.isArray(aud) || aud.length === 1 : azp === clientId;
}

/** RFC 6749 §2.3.1: both parts are encoded as in a form. */
function basic(clientId: string, secret: string): string {
  const encoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(secret)}`).toString('base64')}`;
}
