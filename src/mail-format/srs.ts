// The Sender Rewriting Scheme (SRS, https://www.libsrs2.net/srs/srs.pdf): a host that forwards a message writes the envelope sender into an
// address of its own domain, so that SPF passes there, and a bounce finds the way back. A hash keeps others from making such addresses, and a
// time stamp ends them. The form is that of libsrs2 and postsrsd, with a longer hash.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseAddress, parseSender } from './address.js';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const DAY_MS = 24 * 60 * 60 * 1000;
/** Days after which the time stamp has the same value again. */
const CYCLE_DAYS = 1024;
/** How long a bounce may come back. */
const VALID_DAYS = 21;
/** Characters of base64. */
const HASH_LENGTH = 8;
const LONGEST_ADDRESS = 254;

const SRS0 = /^SRS0[=+-]([^=]+)=([A-Z2-7]{2})=([^=]+)=(.+)$/is;
/** The last group begins with the separator that followed SRS0. */
const SRS1 = /^SRS1[=+-]([^=]+)=([^=]+)=([=+-].+)$/is;
const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+)*$/u;

/** Whether an address claims to be one of this scheme. */
export const isRewritten = (address: string): boolean => /^"?SRS[01][=+-]/i.test(address);

export class SenderRewriting {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /**
   * Returns the address at `domain` that stands for the sender. Undefined when the sender is no address, or the result is too long for one.
   * `now`: ms since the epoch.
   */
  rewrite(sender: string, domain: string, now: number): string | undefined {
    const parsed = parseSender(sender);
    if (parsed === undefined) return undefined;
    const rewritten = `${written(this.#localPart(unquoted(parsed.localPart), parsed.domain, now))}@${domain}`;
    return Buffer.byteLength(rewritten) <= LONGEST_ADDRESS ? rewritten : undefined;
  }

  /** Returns the address for which a rewritten one stands; undefined when it is forged, damaged or too old. */
  reverse(address: string, now: number): string | undefined {
    const parsed = parseAddress(address);
    if (parsed === undefined) return undefined;
    const localPart = unquoted(parsed.localPart);
    const first = SRS0.exec(localPart);
    if (first !== null) {
      const [, hash, stamp, domain, name] = first as unknown as [string, string, string, string, string];
      if (!this.#isHash(hash, stamp, domain, name) || !isRecent(stamp, now)) return undefined;
      return valid(`${written(name)}@${domain}`);
    }
    const later = SRS1.exec(localPart);
    if (later === null) return undefined;
    const [, hash, domain, rest] = later as unknown as [string, string, string, string];
    return this.#isHash(hash, domain, rest) ? valid(`${written(`SRS0${rest}`)}@${domain}`) : undefined;
  }

  #localPart(name: string, domain: string, now: number): string {
    // Another host has rewritten the sender: only its address is kept, so that the chain does not grow.
    const later = SRS1.exec(name);
    if (later !== null) {
      const [, , first, rest] = later as unknown as [string, string, string, string];
      return `SRS1=${this.#hash(first, rest)}=${first}=${rest}`;
    }
    if (SRS0.test(name)) {
      const rest = name.slice('SRS0'.length);
      return `SRS1=${this.#hash(domain, rest)}=${domain}=${rest}`;
    }
    const stamp = stampOf(now);
    return `SRS0=${this.#hash(stamp, domain, name)}=${stamp}=${domain}=${name}`;
  }

  #hash(...parts: readonly string[]): string {
    const text = parts.join('').toLowerCase();
    return createHmac('sha1', this.#secret).update(text).digest('base64').slice(0, HASH_LENGTH);
  }

  /** Hosts on the way may have changed the case. */
  #isHash(hash: string, ...parts: readonly string[]): boolean {
    const [given, own] = [hash, this.#hash(...parts)].map((text) => Buffer.from(text.toLowerCase()));
    return given!.length === own!.length && timingSafeEqual(given!, own!);
  }
}

function stampOf(now: number): string {
  const day = Math.floor(now / DAY_MS) % CYCLE_DAYS;
  return `${BASE32[day >> 5]}${BASE32[day & 31]}`;
}

/** The clock of another node may be a day ahead. */
function isRecent(stamp: string, now: number): boolean {
  const [high, low] = [...stamp.toUpperCase()].map((char) => BASE32.indexOf(char)) as [number, number];
  const today = Math.floor(now / DAY_MS) % CYCLE_DAYS;
  const age = (today - (high * 32 + low) + CYCLE_DAYS) % CYCLE_DAYS;
  return age <= VALID_DAYS || age === CYCLE_DAYS - 1;
}

function unquoted(localPart: string): string {
  return localPart.startsWith('"') ? localPart.slice(1, -1).replace(/\\(.)/gs, '$1') : localPart;
}

function written(localPart: string): string {
  return DOT_ATOM.test(localPart) ? localPart : `"${localPart.replace(/["\\]/g, '\\$&')}"`;
}

const valid = (address: string): string | undefined => (parseSender(address) === undefined ? undefined : address);
