// Where an answer redirects to (RFC 9110 §15.4).
import type { PeerReply } from './outcome.js';

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Returns the URL that the answer of `url` names; undefined when it is no redirect, or names no URL. */
export function redirectionOf(
  { status, headers }: Pick<PeerReply, 'status' | 'headers'>,
  url: URL,
): string | undefined {
  const location = headers['location'];
  if (!REDIRECTS.includes(status) || location === undefined || !URL.canParse(location, url.href)) return undefined;
  return new URL(location, url).href;
}
