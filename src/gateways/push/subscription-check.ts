// Checks a push subscription of a client: its endpoint may be called, and its keys are valid.
import { targetUrlFault } from '../../net/http-client/target-url.js';
import { clientPublicKey, clientSecret } from './client-keys.js';

interface Subscription {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

type Checked =
  | { readonly subscription: Subscription }
  /** The faults by field. */
  | { readonly errors: Readonly<Record<string, readonly string[]>> };

/** `allowPrivate`: accepts endpoints on private addresses, and without TLS. */
export function subscriptionCheck(allowPrivate: boolean): (asked: Subscription) => Checked {
  return ({ endpoint, ...sent }) => {
    const fault = targetUrlFault(endpoint, allowPrivate);
    const p256dh = clientPublicKey(sent.p256dh);
    const auth = clientSecret(sent.auth);
    if (fault === undefined && p256dh !== undefined && auth !== undefined) {
      // The URL is normalized, so that the same endpoint is the same text.
      return { subscription: { endpoint: new URL(endpoint).href, p256dh, auth } };
    }
    return {
      errors: {
        ...(fault !== undefined && { endpoint: [fault] }),
        ...(p256dh === undefined && { p256dh: ['must be an uncompressed P-256 point of 65 octets in base64url'] }),
        ...(auth === undefined && { auth: ['must be 16 octets in base64url'] }),
      },
    };
  };
}
