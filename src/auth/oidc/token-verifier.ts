// Verifies access and ID tokens of the identity provider (RFC 7519, RFC 8725): the signature by a key of the provider with a public-key
// algorithm, the issuer, the audience, and the time. Other parts of a header (jku, jwk, x5u) are ignored. The directory decides whose
// account a token opens.
import { type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { ProviderUnavailable } from './bounded-json.js';
import { KEY_SET_TIMING, type Key, KeySet, type KeySetTiming } from './key-set.js';
import { UserInfo } from './user-info.js';

export interface TokenVerifierOptions {
  /** URL of the provider, without a slash at the end. */
  readonly authority: string;
  /** The audience that tokens must name; undefined when any is accepted. */
  readonly audience: string | undefined;
  readonly timing?: Partial<KeySetTiming>;
  /** Those of the provider, where other parts use them too. */
  readonly keySet?: KeySet;
  readonly log: TokenLog;
}

export interface TokenLog {
  debug(fields: object, text: string): void;
}

export interface VerifiedToken {
  readonly issuer: string;
  /** Undefined when the token does not name its user. */
  readonly subject: string | undefined;
  readonly email: string | undefined;
  /** Undefined when the token does not say. */
  readonly emailVerified: boolean | undefined;
  readonly name: string | undefined;
  /** ms since the epoch */
  readonly expiresAt: number;
}

/** The claims of tokens and of the UserInfo endpoint about a user; each is undefined when absent. */
export type UserClaims = Pick<VerifiedToken, 'email' | 'emailVerified' | 'name'>;

export interface TokenVerifier {
  /** Undefined when the token is invalid. @throws ProviderUnavailable */
  verify(token: string): Promise<VerifiedToken | undefined>;
  /** The provider's claims about the user of a valid token. @throws ProviderUnavailable */
  userInfo(token: string, subject: string): Promise<UserClaims>;
}

const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Clocks may differ by this much. */
const TOLERANCE_SECONDS = 5;
const LONGEST_SUBJECT = 255;
/** The last time that a date can have, in seconds (ECMA-262): a token with a later expiry is invalid. */
const LAST_EXPIRY = 8_640_000_000_000;
/** The store's text cannot hold NUL, and would replace half of a surrogate pair. */
const UNFIT = /[\0\p{Cs}]/u;
const NAME_IDENTIFIER = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier';

/** A token has three segments; the first is a JSON object in base64url. No API key has this form. */
export function isToken(credential: string): boolean {
  return /^ey[\w-]+\.[\w-]+\.[\w-]*$/.test(credential);
}

export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { authority, audience, timing, log, keySet = new KeySet(authority, timing) } = options;
  const { timeoutMs } = { ...KEY_SET_TIMING, ...timing };
  const userInfo = new UserInfo({ url: () => keySet.userInfoUrl(), timeoutMs });
  return {
    async verify(token) {
      const payload = await verifiedPayload(token, { keySet, audience, log });
      return payload && claimsOf(payload);
    },
    userInfo: async (token, subject) => userClaimsOf(await userInfo.claims(token, subject)),
  };
}

interface Verification {
  readonly keySet: KeySet;
  readonly audience: string | undefined;
  readonly log: TokenLog;
}

/** The claims of a token that is valid now; undefined when it is not. @throws ProviderUnavailable */
export async function verifiedPayload(
  token: string,
  { keySet, audience, log }: Verification,
): Promise<JWTPayload | undefined> {
  if (!isToken(token)) return undefined;
  let keys: readonly Key[] = [];
  // The provider is only asked when the form and the algorithm of the header are acceptable.
  const first = async (...[header, jws]: Parameters<KeySet['find']>) => {
    keys = await keySet.find(header, jws);
    if (keys[0] === undefined) throw new Error('the provider has no such key');
    return keys[0];
  };
  const options = async (): Promise<JWTVerifyOptions> => ({
    algorithms: ALGORITHMS,
    clockTolerance: TOLERANCE_SECONDS,
    requiredClaims: ['exp'],
    issuer: await keySet.issuer(),
    ...(audience === undefined ? {} : { audience }),
  });
  try {
    return inTime((await jwtVerify(token, first, await options())).payload);
  } catch (error) {
    for (const key of keys.slice(1)) {
      const verified = await jwtVerify(token, key, await options()).catch(() => undefined);
      if (verified !== undefined) return inTime(verified.payload);
    }
    if (error instanceof ProviderUnavailable) throw error;
    log.debug({ reason: error instanceof Error ? error.message : '' }, 'token refused');
    return undefined;
  }
}

const inTime = (payload: JWTPayload): JWTPayload | undefined => (payload.exp! > LAST_EXPIRY ? undefined : payload);

/** `payload`: of a valid token. */
export function claimsOf(payload: JWTPayload): VerifiedToken {
  const { iss, exp, sub } = payload;
  const subject = text(sub) ?? text(payload[NAME_IDENTIFIER]);
  return {
    issuer: iss!,
    subject: subject !== undefined && isSubject(subject) ? subject : undefined,
    ...userClaimsOf(payload),
    expiresAt: exp! * 1000,
  };
}

function userClaimsOf({ email, email_verified: verified, name }: Readonly<Record<string, unknown>>): UserClaims {
  return {
    email: text(email),
    // Some providers send it as text.
    emailVerified: verified === undefined ? undefined : verified === true || verified === 'true',
    name: text(name),
  };
}

const isSubject = (text: string): boolean => text.length <= LONGEST_SUBJECT && !UNFIT.test(text);

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
