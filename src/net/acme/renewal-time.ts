// When a certificate is renewed, and when a failed request is tried again. Pure; times are ms since the epoch, and `random` is in [0, 1).
import type { RenewalWindow } from './acme-objects.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Without advice of the authority, at two thirds of the lifetime, or up to a thirtieth of it earlier, so that not all come at once. */
export function renewalTime(
  { notBefore, notAfter }: { readonly notBefore: number; readonly notAfter: number },
  random: number,
): number {
  return Math.round(notBefore + (notAfter - notBefore) * (2 / 3 - random / 30));
}

/** A time that was chosen stays while it is in the window of the authority (RFC 9773 §4.2). */
export function timeInWindow({ start, end }: RenewalWindow, chosen: number | undefined, random: number): number {
  if (chosen !== undefined && chosen >= start && chosen <= end) return chosen;
  return Math.round(start + (end - start) * random);
}

/** Let's Encrypt takes five failed proofs for a name in an hour: four times as long after each failure gives four. */
const FIRST_RETRY_MS = MINUTE_MS;
const RETRY_FACTOR = 4;
const LONGEST_RETRY_MS = DAY_MS;
/** The server may ask for a longer pause. */
const LONGEST_WISH_MS = 7 * DAY_MS;

/** The pause after this many failures in a row, ±10 %. */
export function retryDelay(failures: number, wishMs: number | undefined, random: number): number {
  const own = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * RETRY_FACTOR ** Math.min(failures - 1, 20));
  return Math.round(Math.max(own * (0.9 + random / 5), Math.min(wishMs ?? 0, LONGEST_WISH_MS)));
}
