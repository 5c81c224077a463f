// The Retry-After field of an answer (RFC 9110 §10.2.3): whole seconds, or a date.
import type { PeerReply } from './outcome.js';

/**
 * Returns the time to wait in ms, at least 0; undefined when there is no readable field. The caller limits the time. `now` is in ms since
 * the epoch.
 */
export function retryAfterMs({ headers }: Pick<PeerReply, 'headers'>, now: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Z][a-z]{2,8},? .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
