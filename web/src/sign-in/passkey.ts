// The ceremonies of passkeys in this browser: one is made for the account, or signs in. The library that asks the authenticator is loaded
// when it is needed.
import type { MansioClient, Passkey, PasskeyLogin } from '../../../src/client/index.js';
import { isNamedHost } from './passkey-faults.js';

const webAuthn = () => import('@simplewebauthn/browser');
type Options<Ask extends (options: { optionsJSON: never }) => unknown> = Parameters<Ask>[0]['optionsJSON'];
type Library = Awaited<ReturnType<typeof webAuthn>>;

/** Whether this browser can have passkeys at this address. The server may still refuse the host. */
export function canHavePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && isNamedHost(location.hostname);
}

/** Whether this device itself has an authenticator, so that nothing else is needed. */
export async function hasOwnAuthenticator(): Promise<boolean> {
  if (!canHavePasskeys()) return false;
  return PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable().catch(() => false);
}

/** Whether the browser offers passkeys where the reader types. */
export async function canOfferInField(): Promise<boolean> {
  return canHavePasskeys() && (await webAuthn()).browserSupportsWebAuthnAutofill();
}

/** @throws Refusal, NetworkFault, Error of the browser */
export async function addPasskey({ passkeys }: MansioClient, name: string): Promise<Passkey> {
  const optionsJSON = (await passkeys.registrationOptions()) as never as Options<Library['startRegistration']>;
  const { startRegistration } = await webAuthn();
  const { id, rawId, type, response } = await startRegistration({ optionsJSON });
  const { clientDataJSON, attestationObject, transports } = response;
  return passkeys.register({ id, rawId, type, response: { clientDataJSON, attestationObject, transports }, name });
}

/** What proves who the reader is: the browser asks at once. @throws Refusal, NetworkFault, Error of the browser */
export async function passkeyProof({ passkeys }: MansioClient): Promise<PasskeyLogin> {
  const options = await passkeys.signInOptions();
  return proofOf(await webAuthn(), options, false);
}

/**
 * The same, once a passkey is chosen where the reader types. The browser has one ceremony at a time, so this one does not begin, and gives
 * undefined, unless it is still wanted when its options are there. @throws Refusal, NetworkFault, Error of the browser
 */
export async function passkeyProofInField(
  { passkeys }: MansioClient,
  isWanted: () => boolean,
): Promise<PasskeyLogin | undefined> {
  const options = await passkeys.signInOptions();
  const library = await webAuthn();
  return isWanted() ? proofOf(library, options, true) : undefined;
}

async function proofOf(
  { startAuthentication }: Library,
  options: unknown,
  useBrowserAutofill: boolean,
): Promise<PasskeyLogin> {
  const optionsJSON = options as Options<Library['startAuthentication']>;
  const { id, rawId, type, response } = await startAuthentication({ optionsJSON, useBrowserAutofill });
  const { clientDataJSON, authenticatorData, signature, userHandle = '' } = response;
  return { id, rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } };
}

/** Ends the ceremony that is under way. */
export async function endCeremony(): Promise<void> {
  (await webAuthn()).WebAuthnAbortService.cancelCeremony();
}
