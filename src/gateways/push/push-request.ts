// The HTTP request of a push message: encrypted for one browser (RFC 8291), signed with the server's key pair (VAPID, RFC 8292).
import webPush from 'web-push';
import type { PushMessage } from './push-message.js';
import type { VapidKeys } from './vapid-keys.js';

/** `subject`: the contact for push services when messages of this server cause trouble, a mailto or https URL. */
export interface VapidIdentity extends VapidKeys {
  readonly subject: string;
}

export interface PushRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface PushTarget {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** @throws when the keys of the target are invalid */
export function pushRequest(
  { endpoint, ...keys }: PushTarget,
  message: PushMessage,
  vapid: VapidIdentity,
): PushRequest {
  const { content, ttl, urgency, topic } = message;
  const { headers, body } = webPush.generateRequestDetails({ endpoint, keys }, content, {
    vapidDetails: vapid,
    TTL: ttl,
    urgency,
    topic,
    contentEncoding: 'aes128gcm',
  });
  const fields = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return { url: endpoint, headers: Object.fromEntries(fields), body: body as Buffer };
}
