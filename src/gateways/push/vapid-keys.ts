// The key pair by which push services know this server (VAPID, RFC 8292): it comes from the configuration, or is created once for the whole
// cluster and stored, because subscriptions are bound to it.
import webPush from 'web-push';

export interface VapidKeys {
  /** 65 octets in base64url. */
  readonly publicKey: string;
  /** 32 octets in base64url. */
  readonly privateKey: string;
}

const SETTING = 'vapid-keys';

/** `settings`: values on which the cluster agrees once. */
export async function vapidKeys(
  configured: VapidKeys | undefined,
  settings: { getOrCreate(key: string, initial: () => string): Promise<string> },
): Promise<VapidKeys> {
  if (configured !== undefined) return configured;
  return JSON.parse(await settings.getOrCreate(SETTING, () => JSON.stringify(webPush.generateVAPIDKeys())));
}
