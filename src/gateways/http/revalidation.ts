// Conditional requests (RFC 9110 §13.1): a client that has the current version gets 304 for a GET, and nothing is read for
// the reply; a change that names versions is made of these alone.
import type { HeaderField } from './exchange.js';
import type { AnyReply } from './route.js';

/** RFC 9110 §15.4.5: of the fields of a 200, those that a cache needs. */
const KEPT = new Set(['etag', 'cache-control', 'content-security-policy']);

/** The field of a strong validator made of what never changes. */
export const entityTag = (...parts: readonly string[]): HeaderField => ['ETag', `"${parts.join('-')}"`];

/** The reply itself, or a 304 in its place. `ifNoneMatch`: the field's value. */
export function revalidated(reply: AnyReply, ifNoneMatch: string | undefined): AnyReply {
  if (ifNoneMatch === undefined || reply.status !== 200) return reply;
  const tag = reply.headers?.find(([name]) => name === 'ETag')?.[1];
  if (tag === undefined || !names(ifNoneMatch, tag)) return reply;
  const headers = (reply.headers ?? []).filter(([name]) => KEPT.has(name.toLowerCase()));
  return { status: 304, headers };
}

/**
 * The tags that If-Match names, without their quotes; undefined when any version will do. Weak tags match nothing (§13.1.1).
 * `ifMatch`: the field's value.
 */
export function matchingTags(ifMatch: string | undefined): readonly string[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const tags = ifMatch.matchAll(/(W\/)?"([!#-~\x80-\xff]*)"/g);
  return [...tags].flatMap(([, weak, tag = '']) => (weak === undefined ? [tag] : []));
}

/** Our tags hold no comma; compared weakly, as the field asks for (RFC 9110 §8.8.3.2). */
function names(list: string, tag: string): boolean {
  return list.split(',').some((item) => item.trim() === '*' || item.trim().replace(/^W\//, '') === tag);
}
