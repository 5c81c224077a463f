// Access and ID tokens of the identity provider (RFC 7519, RFC 8725): signed by a key of the provider's, with an algorithm
// that has a public key, from its issuer, for us, and valid now. What else a header says (jku, jwk, x5u) is not looked at.
// Whose account a token opens is the directory's to say.
import { type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { ProviderUnavailable } from './bounded-json.js';
import { KEY_SET_TIMING, type Key, KeySet, type KeySetTiming } from './key-set.js';
import { UserInfo } from './user-info.js';

export interface TokenVerifierOptions {
  /** URL of the provider, without a slash at the end. */
  readonly authority: string;
  /** What tokens must be for, when they must be for something. */
  readonly audience: string | undefined;
  readonly timing?: Partial<KeySetTiming>;
  readonly log: { debug(fields: object, text: string): void };
}

export interface VerifiedToken {
  readonly issuer: string;
  /** Undefined when the token does not say who its user is. */
  readonly subject: string | undefined;
  readonly email: string | undefined;
  /** Undefined when the token does not say. */
  readonly emailVerified: boolean | undefined;
  readonly name: string | undefined;
  /** ms since the epoch */
  readonly expiresAt: number;
}

/** What tokens and the UserInfo endpoint say about a user; each part undefined when they do not. */
export type UserClaims = Pick<VerifiedToken, 'email' | 'emailVerified' | 'name'>;

export interface TokenVerifier {
  /** Undefined when the token is not valid. @throws ProviderUnavailable */
  verify(token: string): Promise<VerifiedToken | undefined>;
  /** What the provider tells of the user of a valid token. @throws ProviderUnavailable */
  userInfo(token: string, subject: string): Promise<UserClaims>;
}

const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Clocks differ. */
const TOLERANCE_SECONDS = 5;
const LONGEST_SUBJECT = 255;
/** Seconds of the last time there is (ECMA-262): JSON has larger numbers, and they end nothing. */
const LAST_EXPIRY = 8_640_000_000_000;
/** The store's text has no NUL, and would hold one half of a surrogate pair for any other. */
const UNFIT = /[\0\p{Cs}]/u;
const NAME_IDENTIFIER = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier';

/** Three segments, the first a JSON object in base64url. No API key has this form. */
export function isToken(credential: string): boolean {
  return /^ey[\w-]+\.[\w-]+\.[\w-]*$/.test(credential);
}

export function createTokenVerifier({ authority, audience, timing, log }: TokenVerifierOptions): TokenVerifier {
  const keySet = new KeySet(authority, timing);
  const { timeoutMs } = { ...KEY_SET_TIMING, ...timing };
  const userInfo = new UserInfo({ url: () => keySet.userInfoUrl(), timeoutMs });

  async function payloadOf(token: string): Promise<JWTPayload | undefined> {
    let keys: readonly Key[] = [];
    // Asked of the provider only once the header is of a form and an algorithm we take.
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
      return (await jwtVerify(token, first, await options())).payload;
    } catch (error) {
      for (const key of keys.slice(1)) {
        const verified = await jwtVerify(token, key, await options()).catch(() => undefined);
        if (verified !== undefined) return verified.payload;
      }
      if (error instanceof ProviderUnavailable) throw error;
      log.debug({ reason: error instanceof Error ? error.message : '' }, 'token refused');
      return undefined;
    }
  }

  return {
    async verify(token) {
      const payload = isToken(token) ? await payloadOf(token) : undefined;
      return payload === undefined || payload.exp! > LAST_EXPIRY ? undefined : claimsOf(payload);
    },
    userInfo: async (token, subject) => userClaimsOf(await userInfo.claims(token, subject)),
  };
}

function claimsOf(payload: JWTPayload): VerifiedToken {
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
    // Some providers write it as text.
    emailVerified: verified === undefined ? undefined : verified === true || verified === 'true',
    name: text(name),
  };
}

const isSubject = (text: string): boolean => text.length <= LONGEST_SUBJECT && !UNFIT.test(text);

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
