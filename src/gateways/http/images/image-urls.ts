// Signed URLs of the image proxy: whoever has one may load one image for an hour, in the share of one account. The signature covers all
// parameters; its key is a secret that the cluster agrees on once, so every node serves the URLs of every other.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export const IMAGE_PROXY = '/api/image-proxy';

const SETTING = 'image-proxy-secret';
const VALID_SECONDS = 3600;

/** The query of a signed URL, as it came. */
export interface SignedImage {
  readonly url?: string | undefined;
  readonly account?: string | undefined;
  readonly expires?: string | undefined;
  readonly signature?: string | undefined;
}

export class ImageUrls {
  readonly #secret: string;
  readonly #now: () => number;

  /** `now` is in ms since the epoch. */
  constructor(secret: string, now: () => number = Date.now) {
    this.#secret = secret;
    this.#now = now;
  }

  /** Returns path and query, without an origin. */
  signed(accountId: string, url: string): string {
    const expires = String(Math.floor(this.#now() / 1000) + VALID_SECONDS);
    const signature = this.#signature(url, accountId, expires).toString('base64url');
    return `${IMAGE_PROXY}?${new URLSearchParams({ url, account: accountId, expires, signature })}`;
  }

  /** Returns the image and its account; undefined when the signature is wrong or too old. */
  verified({ url, account, expires, signature }: SignedImage): { url: string; accountId: string } | undefined {
    if (url === undefined || account === undefined || expires === undefined || signature === undefined)
      return undefined;
    const [expected, sent] = [this.#signature(url, account, expires), Buffer.from(signature, 'base64url')];
    // Other texts than the one that `signed` writes decode to the same octets.
    if (sent.toString('base64url') !== signature || sent.length !== expected.length) return undefined;
    if (!timingSafeEqual(sent, expected) || Number(expires) * 1000 <= this.#now()) return undefined;
    return { url, accountId: account };
  }

  #signature(...signed: readonly string[]): Buffer {
    return createHmac('sha256', this.#secret).update(JSON.stringify(signed)).digest();
  }
}

/** `settings`: values on which the cluster agrees once. */
export async function imageUrls(settings: {
  getOrCreate(key: string, initial: () => string): Promise<string>;
}): Promise<ImageUrls> {
  return new ImageUrls(await settings.getOrCreate(SETTING, () => randomBytes(32).toString('base64url')));
}
