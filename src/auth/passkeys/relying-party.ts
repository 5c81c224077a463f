// The host for which passkeys are made and used (the relying party of WebAuthn): that of the request, where it is localhost or the host of
// the public URL. An authenticator binds a passkey to it, and so does the store.
import { type BrowserRequest, ownUrl } from '../session-cookie.js';

export interface RelyingParty {
  readonly id: string;
  /** Scheme, host and port, as browsers write them. */
  readonly origin: string;
}

const ELSEWHERE =
  'passkeys work at the host of MANSIO_PUBLIC_URL and under localhost, not at an address or another name';

/** Returns why the request can have no passkey where it can have none. */
export function relyingPartyOf(
  request: BrowserRequest,
  publicUrl: string | undefined,
): RelyingParty | { readonly refusal: string } {
  const own = ownUrl(request);
  const isLocal = own?.hostname === 'localhost';
  if (own === undefined || (!isLocal && own.hostname !== hostOf(publicUrl))) return { refusal: ELSEWHERE };
  if (!isLocal && !request.isSecure) return { refusal: 'passkeys need https, but under localhost' };
  // The Host is what the client says: whoever serves another port of this host could pass a ceremony on.
  if (!isLocal && own.origin !== new URL(publicUrl!).origin) return { refusal: ELSEWHERE };
  return { id: own.hostname, origin: own.origin };
}

/** An address is no host of passkeys. */
function hostOf(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return undefined;
  const { hostname } = new URL(publicUrl);
  return /^\[|^[\d.]+$/.test(hostname) ? undefined : hostname;
}
