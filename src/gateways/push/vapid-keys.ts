// The key pair that push services know this server by (VAPID, RFC 8292): given by the configuration, or made once for the
// whole cluster and kept in the store, because subscriptions are bound to it.
import webPush from 'web-push';

export interface VapidKeys {
  /** 65 octets in base64url. */
  readonly publicKey: string;
  /** 32 octets in base64url. */
  readonly privateKey: string;
}

const SETTING = 'vapid-keys';

/** `settings`: what the cluster agrees on once. */
export async function vapidKeys(
  configured: VapidKeys | undefined,
  settings: { getOrCreate(key: string, initial: () => string): Promise<string> },
): Promise<VapidKeys> {
  if (configured !== undefined) return configured;
  return JSON.parse(await settings.getOrCreate(SETTING, () => JSON.stringify(webPush.generateVAPIDKeys())));
}
