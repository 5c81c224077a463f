// Claims that a token lacks, from the UserInfo endpoint of the identity provider (OpenID Connect Core 1.0 §5.3). Answers are cached by
// token, including empty ones, so clients cannot make the node ask the provider more often.
import { createHash } from 'node:crypto';
import { lruCache } from '../../concurrency/lru-cache.js';
import { fetchJson, ProviderRefusal } from './bounded-json.js';

export interface UserInfoOptions {
  /** The URL of the endpoint; undefined when the provider has none. */
  readonly url: () => Promise<string | undefined>;
  /** The timeout of one answer. In ms. */
  readonly timeoutMs: number;
}

type Claims = Readonly<Record<string, unknown>>;

const TTL_MS = 60_000;
const MOST_TOKENS = 10_000;
const NOTHING: Claims = {};

export class UserInfo {
  readonly #options: UserInfoOptions;
  /** Keyed by the SHA-256 of the token. Concurrent calls share an answer. */
  readonly #answers = lruCache<string, Promise<Claims>>(MOST_TOKENS, { ttl: TTL_MS });

  constructor(options: UserInfoOptions) {
    this.#options = options;
  }

  /** Empty when the provider has no claims about `subject` for this token. @throws ProviderUnavailable */
  async claims(token: string, subject: string): Promise<Claims> {
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = this.#ask(token, subject);
    this.#answers.set(key, answer);
    try {
      return await answer;
    } catch (error) {
      // After a failure, the next request asks the provider again.
      if (this.#answers.peek(key) === answer) this.#answers.delete(key);
      throw error;
    }
  }

  async #ask(token: string, subject: string): Promise<Claims> {
    const url = await this.#options.url();
    if (url === undefined) return NOTHING;
    try {
      const claims = await fetchJson(url, this.#options.timeoutMs, { authorization: `Bearer ${token}` });
      // §5.3.2: the answer may be another user's.
      return claims['sub'] === subject ? claims : NOTHING;
    } catch (error) {
      // The token may not be meant for this endpoint.
      if (error instanceof ProviderRefusal) return NOTHING;
      throw error;
    }
  }
}
