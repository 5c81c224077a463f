// Challenges of passkeys: random and signed, so every node checks those of every other, and nothing is stored before one is answered. An
// answered one is spent in the store (store/sign-in/passkeys.ts), so each is good once, for five minutes and for one purpose.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export const CHALLENGE_MS = 5 * 60_000;
const RANDOM_OCTETS = 16;
const TIME_OCTETS = 6;
const HEAD_OCTETS = RANDOM_OCTETS + TIME_OCTETS;
const MAC_OCTETS = 32;
const SETTING = 'passkey-challenge-secret';

/** What a challenge is for; an answer to another purpose is refused. */
export interface ChallengePurpose {
  readonly ceremony: 'registration' | 'login';
  /** The host for which it is answered. */
  readonly rpId: string;
  /** The account that registers. */
  readonly accountId?: string;
}

/** A challenge that is signed and not too old. */
export interface ValidChallenge {
  /** SHA-256, 64 hex digits. */
  readonly hash: string;
  /** ms since the epoch. */
  readonly expiresAt: number;
}

export class PasskeyChallenges {
  readonly #secret: string;
  readonly #now: () => number;

  /** `now` is in ms since the epoch. */
  constructor(secret: string, now: () => number = Date.now) {
    this.#secret = secret;
    this.#now = now;
  }

  issue(purpose: ChallengePurpose): Uint8Array<ArrayBuffer> {
    const challenge = Buffer.alloc(HEAD_OCTETS + MAC_OCTETS);
    randomBytes(RANDOM_OCTETS).copy(challenge);
    challenge.writeUIntBE(this.#now() + CHALLENGE_MS, RANDOM_OCTETS, TIME_OCTETS);
    this.#mac(challenge.subarray(0, HEAD_OCTETS), purpose).copy(challenge, HEAD_OCTETS);
    return Uint8Array.from(challenge);
  }

  /** `text`: in base64url. Undefined when it was not issued for the purpose, or is too old. */
  valid(text: string, purpose: ChallengePurpose): ValidChallenge | undefined {
    const challenge = Buffer.from(text, 'base64url');
    if (challenge.length !== HEAD_OCTETS + MAC_OCTETS) return undefined;
    const head = challenge.subarray(0, HEAD_OCTETS);
    const expiresAt = head.readUIntBE(RANDOM_OCTETS, TIME_OCTETS);
    const isOwn = timingSafeEqual(this.#mac(head, purpose), challenge.subarray(HEAD_OCTETS));
    if (!isOwn || expiresAt <= this.#now()) return undefined;
    return { hash: createHash('sha256').update(challenge).digest('hex'), expiresAt };
  }

  #mac(head: Buffer, { ceremony, rpId, accountId = '' }: ChallengePurpose): Buffer {
    const signed = JSON.stringify([head.toString('base64url'), ceremony, rpId, accountId]);
    return createHmac('sha256', this.#secret).update(signed).digest();
  }
}

/** `settings`: values on which the cluster agrees once. */
export async function passkeyChallenges(settings: {
  getOrCreate(key: string, initial: () => string): Promise<string>;
}): Promise<PasskeyChallenges> {
  return new PasskeyChallenges(await settings.getOrCreate(SETTING, () => randomBytes(32).toString('base64url')));
}
