// What a client sent as a push subscription, held to what can be sent to: an endpoint that may be called, keys that fit.
import { targetUrlFault } from '../../http-client/target-url.js';
import { clientPublicKey, clientSecret } from './client-keys.js';

interface Subscription {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

type Checked =
  | { readonly subscription: Subscription }
  /** Field to what is wrong with it. */
  | { readonly errors: Readonly<Record<string, readonly string[]>> };

/** `allowPrivate`: endpoints on private addresses, and without TLS. */
export function subscriptionCheck(allowPrivate: boolean): (asked: Subscription) => Checked {
  return ({ endpoint, ...sent }) => {
    const fault = targetUrlFault(endpoint, allowPrivate);
    const p256dh = clientPublicKey(sent.p256dh);
    const auth = clientSecret(sent.auth);
    if (fault === undefined && p256dh !== undefined && auth !== undefined) {
      // As a URL is written: the same endpoint is the same text.
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
