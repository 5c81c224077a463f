// The signing keys and endpoints of an identity provider: found through its discovery document (OpenID Connect Discovery 1.0 §4), cached,
// and fetched again when a token names an unknown key. Clients cannot make the node ask the provider more often; while the provider is unreachable,
// known keys remain valid.
import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWTHeaderParameters } from 'jose';
import { fetchJson, ProviderUnavailable } from './bounded-json.js';

export interface KeySetTiming {
  /** Keys older than this are fetched again before use. In ms. */
  readonly freshMs: number;
  /** Keys older than this are not used, even if no others are available. In ms. */
  readonly usableMs: number;
  /** The least time between two fetches, and between two fetches because of missing keys. In ms. */
  readonly cooldownMs: number;
  /** The timeout of each of the two documents. In ms. */
  readonly timeoutMs: number;
  now(): number;
}

export const KEY_SET_TIMING: KeySetTiming = {
  freshMs: 5 * 60_000,
  usableMs: 24 * 60 * 60_000,
  cooldownMs: 5_000,
  timeoutMs: 3_000,
  now: () => performance.now(),
};

const MOST_KEYS = 100;
const LONGEST_URL = 2048;

type Find = ReturnType<typeof createLocalJWKSet>;
export type Key = Awaited<ReturnType<Find>>;

/** Where people sign in, and codes are exchanged for tokens. */
export interface SignInEndpoints {
  readonly authorization: string;
  readonly token: string;
  /** The provider names itself when it sends a browser back (RFC 9207). */
  readonly namesIssuer: boolean;
  /** The provider takes a client secret in the body alone. */
  readonly takesSecretInBody: boolean;
}

interface Keys {
  readonly issuer: string;
  readonly userInfo: string | undefined;
  readonly signIn: SignInEndpoints | undefined;
  readonly find: Find;
  readonly at: number;
}

export class KeySet {
  readonly #authority: string;
  readonly #timing: KeySetTiming;
  #keys: Keys | undefined;
  #fetch: Promise<void> | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #failure: ProviderUnavailable | undefined;

  /** `authority`: URL of the provider, without a slash at the end. */
  constructor(authority: string, timing: Partial<KeySetTiming> = {}) {
    this.#authority = authority;
    this.#timing = { ...KEY_SET_TIMING, ...timing };
  }

  /** The issuer that tokens must name. @throws ProviderUnavailable */
  async issuer(): Promise<string> {
    return (await this.#fresh()).issuer;
  }

  /** The URL of the provider's UserInfo endpoint; undefined when it has none. @throws ProviderUnavailable */
  async userInfoUrl(): Promise<string | undefined> {
    return (await this.#fresh()).userInfo;
  }

  /** @throws ProviderUnavailable, also when the provider has no such endpoints */
  async signInEndpoints(): Promise<SignInEndpoints> {
    const { signIn } = await this.#fresh();
    if (signIn === undefined) throw new ProviderUnavailable(`${this.#authority} names no endpoints for sign-ins`);
    return signIn;
  }

  /**
   * The keys that may have signed a token with this header, usually one; empty when the provider has none.
   * @throws ProviderUnavailable when the provider cannot be reached
   */
  async find(header: JWTHeaderParameters, token: FlattenedJWSInput): Promise<readonly Key[]> {
    const found = await candidates((await this.#fresh()).find, header, token);
    if (found.length > 0) return found;
    await this.#renew();
    if (this.#failure !== undefined) throw this.#failure;
    return this.#keys === undefined ? [] : candidates(this.#keys.find, header, token);
  }

  async #fresh(): Promise<Keys> {
    if (this.#age() >= this.#timing.freshMs) await this.#refresh();
    if (this.#keys !== undefined && this.#age() < this.#timing.usableMs) return this.#keys;
    throw this.#failure ?? new ProviderUnavailable(`${this.#authority} has not been asked`);
  }

  #age(): number {
    return this.#keys === undefined ? Number.POSITIVE_INFINITY : this.#timing.now() - this.#keys.at;
  }

  /** Never rejects: `#failure` has the error. Does nothing within the cool-down; concurrent calls share a fetch. */
  #refresh(): Promise<void> {
    if (this.#fetch !== undefined) return this.#fetch;
    if (this.#timing.now() - this.#triedAt < this.#timing.cooldownMs) return Promise.resolve();
    return this.#ask();
  }

  /**
   * Recently fetched keys may lack one that the provider has made since: the first fetch because of a missing key ignores the cool-down.
   */
  #renew(): Promise<void> {
    const { now, cooldownMs } = this.#timing;
    const isBound = this.#fetch !== undefined || this.#failure !== undefined;
    if (isBound || now() - this.#renewedAt < cooldownMs) return this.#refresh();
    this.#renewedAt = now();
    return this.#ask();
  }

  #ask(): Promise<void> {
    this.#fetch = this.#load()
      .then(
        (keys) => {
          this.#keys = keys;
          this.#failure = undefined;
        },
        (error: unknown) => {
          this.#failure = error instanceof ProviderUnavailable ? error : unusable(this.#authority, error);
        },
      )
      .finally(() => {
        this.#triedAt = this.#timing.now();
        this.#fetch = undefined;
      });
    return this.#fetch;
  }

  async #load(): Promise<Keys> {
    const { timeoutMs, now } = this.#timing;
    const document = await fetchJson(`${this.#authority}/.well-known/openid-configuration`, timeoutMs);
    const { issuer, jwks_uri: url, userinfo_endpoint: userInfo } = document;
    // §4.3: otherwise tokens of any issuer could pass as this one's.
    if (typeof issuer !== 'string' || issuer.replace(/\/+$/, '') !== this.#authority) {
      throw new ProviderUnavailable(`the discovery document of ${this.#authority} is of another issuer`);
    }
    if (!isSafe(url)) {
      throw new ProviderUnavailable(`the discovery document of ${this.#authority} has no usable jwks_uri`);
    }
    const { keys } = await fetchJson(url, timeoutMs);
    if (!Array.isArray(keys) || keys.length > MOST_KEYS) throw new ProviderUnavailable(`${url} is no set of keys`);
    return {
      issuer,
      userInfo: isSafe(userInfo) ? userInfo : undefined,
      signIn: signInEndpointsIn(document),
      find: createLocalJWKSet({ keys } as JSONWebKeySet),
      at: now(),
    };
  }
}

function signInEndpointsIn(document: Readonly<Record<string, unknown>>): SignInEndpoints | undefined {
  const { authorization_endpoint: authorization, token_endpoint: token } = document;
  if (!isSafe(authorization) || !isSafe(token)) return undefined;
  const methods = document['token_endpoint_auth_methods_supported'];
  const takes = (method: string) => Array.isArray(methods) && methods.includes(method);
  return {
    authorization,
    token,
    namesIssuer: document['authorization_response_iss_parameter_supported'] === true,
    takesSecretInBody: takes('client_secret_post') && !takes('client_secret_basic'),
  };
}

/** Returns several keys only for a token that does not name its key. */
async function candidates(find: Find, header: JWTHeaderParameters, token: FlattenedJWSInput): Promise<readonly Key[]> {
  try {
    return [await find(header, token)];
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      const keys: Key[] = [];
      for await (const key of error) keys.push(key);
      return keys;
    }
    // There is no key with this name, or it is unusable.
    return [];
  }
}

function unusable(authority: string, cause: unknown): ProviderUnavailable {
  return new ProviderUnavailable(`the keys of ${authority} are of no use`, { cause });
}

/** A document that arrives without TLS cannot be trusted, unless it does not leave the machine. */
function isSafe(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > LONGEST_URL || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
}
