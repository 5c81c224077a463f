// Judges a DKIM-Signature or ARC-Message-Signature field before anything is looked up or computed for it (RFC 6376 §6.1.1, RFC 8617
// §4.1.2). The checks are strict: only an unambiguous signature is verified; any other one gets its result here.
import type { BodyCanonicalization } from '../../mail-format/authentication/body-canonicalization.js';
import { compact, type TagList, tagList } from '../../mail-format/authentication/tag-list.js';
import { fieldValue, type HeaderLine } from '../../mail-format/header/header-lines.js';

export interface Signature {
  readonly line: HeaderLine;
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: 'rsa-sha256' | 'ed25519-sha256';
  readonly canonicalization: string;
  readonly bodyCanonicalization: BodyCanonicalization;
  /** The names as they stand in `h=`. */
  readonly fields: string;
  /** In base64. */
  readonly bodyHash: string;
  readonly signature: string;
  /** Seconds since the epoch. */
  readonly expires: number | undefined;
  /** The domain of `i=`. */
  readonly agentDomain: string;
}

export interface Unusable {
  readonly line: HeaderLine;
  /** The domain and selector that the field names, if they are valid. */
  readonly domain: string;
  readonly selector: string;
  readonly result: 'permerror' | 'policy';
  readonly reason: string;
}

/** The most octets of a field; a signature by a 4096-bit key over every known field has 2,000. */
const LONGEST = 8192;
/** Matches runs on which mailauth's search for tags takes quadratic time. */
const LONG_RUN = /[;:\s]{256}/;
const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export function readSignature(line: HeaderLine, kind: 'DKIM' | 'ARC'): Signature | Unusable {
  const unusable = (reason: string, result: Unusable['result'] = 'permerror', tags?: TagList): Unusable => {
    const named = (tag: string) => (NAME.test(tags?.get(tag) ?? '') ? tags!.get(tag)! : '');
    return { line, domain: named('d').toLowerCase(), selector: named('s'), result, reason };
  };
  if (line.raw.length > LONGEST || LONG_RUN.test(line.raw)) return unusable('signature too long');
  const tags = tagList(fieldValue(line));
  if (tags === undefined) return unusable('not a tag list');
  const wrong = (reason: string, result?: Unusable['result']) => unusable(reason, result, tags);
  const tag = (name: string) => compact(tags.get(name) ?? '');

  const domain = tag('d').toLowerCase();
  const selector = tag('s').toLowerCase();
  if (kind === 'DKIM' && tag('v') !== '1') return wrong('unknown version');
  if (!NAME.test(domain) || !domain.includes('.') || !NAME.test(selector)) return wrong('no domain and selector');
  const algorithm = tag('a').toLowerCase();
  // RFC 8301 §3.1.
  if (algorithm === 'rsa-sha1') return wrong('rsa-sha1 is not accepted', 'policy');
  if (algorithm !== 'rsa-sha256' && algorithm !== 'ed25519-sha256') return wrong('unknown algorithm');
  const canonicalization = (tag('c') || (kind === 'ARC' ? 'relaxed/relaxed' : 'simple')).toLowerCase();
  const [header = '', body = 'simple'] = canonicalization.split('/');
  if (!isCanonicalization(header) || !isCanonicalization(body)) return wrong('unknown canonicalization');
  const fields = tag('h');
  const names = fields.toLowerCase().split(':');
  if (kind === 'DKIM' && !names.includes('from')) return wrong('From field not signed');
  if (!BASE64.test(tag('b')) || !BASE64.test(tag('bh'))) return wrong('signature missing');
  if (!(tag('q') || 'dns/txt').split(':').includes('dns/txt')) return wrong('unknown query method');

  const identity = kind === 'DKIM' ? tag('i') : '';
  const agentDomain = identity === '' ? domain : identity.slice(identity.lastIndexOf('@') + 1).toLowerCase();
  if (agentDomain !== domain && !agentDomain.endsWith(`.${domain}`)) return wrong('identity outside of the domain');
  const [made, expires] = [seconds(tag('t')), seconds(tag('x'))];
  if (made === 'wrong' || expires === 'wrong') return wrong('not a time');
  if (made !== undefined && expires !== undefined && expires < made) return wrong('expires before it was made');
  return {
    ...{
      line,
      domain,
      selector,
      algorithm,
      canonicalization,
      bodyCanonicalization: body,
      fields,
      agentDomain,
      expires,
    },
    bodyHash: tag('bh'),
    signature: tag('b'),
  };
}

function isCanonicalization(text: string): text is BodyCanonicalization {
  return text === 'simple' || text === 'relaxed';
}

function seconds(text: string): number | undefined | 'wrong' {
  if (text === '') return undefined;
  return /^\d{1,12}$/.test(text) ? Number(text) : 'wrong';
}
