// Conditional requests (RFC 9110 §13.1): a client that has the current version gets 304 for a GET; a change that names versions applies to
// these only.
import type { HeaderField } from '../exchange.js';
import type { AnyReply } from '../route.js';

/** RFC 9110 §15.4.5: the fields of a 200 that caches need in a 304. */
const KEPT = new Set(['etag', 'cache-control', 'content-security-policy', 'vary']);

/** Makes a strong validator from parts that never change. */
export const entityTag = (...parts: readonly string[]): HeaderField => ['ETag', `"${parts.join('-')}"`];

/** Returns the reply itself, or a 304 instead of it. `ifNoneMatch`: the value of the field. */
export function revalidated(reply: AnyReply, ifNoneMatch: string | undefined): AnyReply {
  if (ifNoneMatch === undefined || reply.status !== 200) return reply;
  const tag = reply.headers?.find(([name]) => name === 'ETag')?.[1];
  if (tag === undefined || !names(ifNoneMatch, tag)) return reply;
  const headers = (reply.headers ?? []).filter(([name]) => KEPT.has(name.toLowerCase()));
  return { status: 304, headers };
}

/**
 * The tags that If-Match names, without their quotes; undefined when any version matches. Weak tags match nothing (§13.1.1). `ifMatch`: the
 * value of the field.
 */
export function matchingTags(ifMatch: string | undefined): readonly string[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const tags = ifMatch.matchAll(/(W\/)?"([!#-~\x80-\xff]*)"/g);
  return [...tags].flatMap(([, weak, tag = '']) => (weak === undefined ? [tag] : []));
}

/** Splits at commas, because our tags contain none, and compares weakly, as the field demands (RFC 9110 §8.8.3.2). */
function names(list: string, tag: string): boolean {
  return list.split(',').some((item) => item.trim() === '*' || item.trim().replace(/^W\//, '') === tag);
}
