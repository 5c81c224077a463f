// The two ceremonies of WebAuthn: registering a passkey, and signing in with it. A passkey is discoverable, so that nobody types a name, and
// its authenticator has verified its user (by PIN or body). `@simplewebauthn/server` verifies; challenges.ts says which challenges are ours.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { CHALLENGE_MS, type ChallengePurpose, type PasskeyChallenges, type ValidChallenge } from './challenges.js';
import type { RelyingParty } from './relying-party.js';

/** EdDSA, ES256, RS256 (RFC 9053, RFC 8812). */
const ALGORITHMS = [-8, -7, -257];
const LONGEST_ID = 1023;
const LONGEST_KEY = 4096;

/** A node without passkeys does not load these packages. */
const webAuthn = () => import('@simplewebauthn/server');
const webAuthnHelpers = () => import('@simplewebauthn/server/helpers');

/** The public half of a passkey. */
interface Credential {
  /** In base64url. */
  readonly credentialId: string;
  /** COSE. */
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
}

export interface RegisteringUser {
  /** 16 octets, by which the authenticator names the account. */
  readonly handle: Uint8Array;
  readonly accountId: string;
  readonly email: string;
  readonly displayName: string;
}

export interface Registered {
  readonly credential: Credential;
  readonly challenge: ValidChallenge;
}

export interface SignedIn {
  readonly counter: number;
  readonly challenge: ValidChallenge;
}

export class PasskeyCeremonies {
  readonly #challenges: PasskeyChallenges;

  constructor(challenges: PasskeyChallenges) {
    this.#challenges = challenges;
  }

  async registration(
    party: RelyingParty,
    { handle, accountId, email, displayName }: RegisteringUser,
    known: readonly Pick<Credential, 'credentialId' | 'transports'>[],
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await webAuthn();
    return generateRegistrationOptions({
      rpName: 'Mansio',
      rpID: party.id,
      userName: email,
      userDisplayName: displayName,
      userID: Uint8Array.from(handle),
      challenge: this.#challenges.issue({ ceremony: 'registration', rpId: party.id, accountId }),
      timeout: CHALLENGE_MS,
      attestationType: 'none',
      excludeCredentials: known.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: [...transports],
      })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      supportedAlgorithmIDs: ALGORITHMS,
    });
  }

  /** Undefined when it is no right answer to a registration of the account. */
  async register(
    party: RelyingParty,
    accountId: string,
    response: RegistrationResponseJSON,
  ): Promise<Registered | undefined> {
    const expected = this.#expected({ ceremony: 'registration', rpId: party.id, accountId });
    const [{ verifyRegistrationResponse }, helpers] = [await webAuthn(), await webAuthnHelpers()];
    try {
      if (!isPlainAttestation(response, helpers)) return undefined;
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response,
        expectedChallenge: expected.check,
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      });
      if (!verified || expected.challenge === undefined) return undefined;
      const { id, publicKey, counter } = registrationInfo.credential;
      if (Buffer.from(id, 'base64url').length > LONGEST_ID || publicKey.length > LONGEST_KEY) return undefined;
      const transports = response.response.transports ?? [];
      return { credential: { credentialId: id, publicKey, counter, transports }, challenge: expected.challenge };
    } catch {
      // The library throws for every answer that is not right, and for what it cannot read.
      return undefined;
    }
  }

  async login(party: RelyingParty): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const { generateAuthenticationOptions } = await webAuthn();
    return generateAuthenticationOptions({
      rpID: party.id,
      challenge: this.#challenges.issue({ ceremony: 'login', rpId: party.id }),
      timeout: CHALLENGE_MS,
      userVerification: 'required',
    });
  }

  /** Undefined when it is no right answer of this passkey. `handle`: that of the account. */
  async signIn(
    party: RelyingParty,
    { credentialId, publicKey, counter }: Credential,
    handle: Uint8Array,
    response: AuthenticationResponseJSON,
  ): Promise<SignedIn | undefined> {
    if (response.response.userHandle !== Buffer.from(handle).toString('base64url')) return undefined;
    const expected = this.#expected({ ceremony: 'login', rpId: party.id });
    const { verifyAuthenticationResponse } = await webAuthn();
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        expectedChallenge: expected.check,
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        credential: { id: credentialId, publicKey: Uint8Array.from(publicKey), counter },
        requireUserVerification: true,
      });
      if (!verified || expected.challenge === undefined) return undefined;
      return { counter: authenticationInfo.newCounter, challenge: expected.challenge };
    } catch {
      return undefined;
    }
  }

  #expected(purpose: ChallengePurpose) {
    const expected = {
      challenge: undefined as ValidChallenge | undefined,
      check: (text: string): boolean => {
        expected.challenge = this.#challenges.valid(text, purpose);
        return expected.challenge !== undefined;
      },
    };
    return expected;
  }
}

/**
 * Browsers send no statement about the authenticator where none is asked for, or one that its own key has signed. Others name certificates,
 * whose lists of revocations the library would download from wherever they say.
 */
function isPlainAttestation(
  { response }: RegistrationResponseJSON,
  { decodeAttestationObject, isoBase64URL }: Awaited<ReturnType<typeof webAuthnHelpers>>,
): boolean {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}
