// ARC (RFC 8617): checks whether the chain of the hosts that forwarded the message is intact. The result is reported and changes nothing: a
// chain tells what its sealers saw, and Mansio trusts none of them.
import { getARChain, verifyASChain } from 'mailauth/lib/arc/index.js';
import type { Field } from 'mailauth/lib/tools.js';
import type { MethodResult } from '../../mail-format/authentication/authentication-results.js';
import { compact, type TagList, tagList } from '../../mail-format/authentication/tag-list.js';
import { fieldValue, type HeaderLine } from '../../mail-format/header/header-lines.js';
import { asField } from './fields.js';
import type { Lookups } from './lookups.js';
import { LEAST_BITS } from './public-keys.js';
import { readSignature, type Signature } from './signature.js';
import { keyName, type SignatureResult } from './signature-check.js';

type Chain = Exclude<ReturnType<typeof getARChain>, false>;

interface ArcChain {
  readonly chain: Chain;
  /** The newest message signature, which must verify over the message itself. */
  readonly signature: Signature;
}

export type ArcFound = ArcChain | 'none' | { readonly broken: string };

/** RFC 8617 allows 50; each one costs a key look-up and a signature check. */
const MOST_SETS = 10;
const LONGEST_FIELD = 16_384;
const LONG_RUN = /[;:\s]{256}/;
const NAMES = new Set(['arc-seal', 'arc-message-signature', 'arc-authentication-results']);
const ALGORITHM = 'rsa-sha256';

/** Reads the sets of a message and starts the look-up of their keys. */
export function findChain(lines: readonly HeaderLine[], lookups: Lookups): ArcFound {
  const own = lines.filter(({ name }) => NAMES.has(name));
  if (own.length === 0) return 'none';
  if (own.length > 3 * MOST_SETS) return { broken: 'too many sets' };
  const fields: Field[] = [];
  let newest: { readonly line: HeaderLine; readonly instance: number } | undefined;
  for (const line of own) {
    const text = readField(line);
    if (text === undefined) return { broken: 'malformed field' };
    fields.push(asField(line, text.text));
    if (line.name === 'arc-message-signature' && text.instance > (newest?.instance ?? 0))
      newest = { line, instance: text.instance };
    if (line.name === 'arc-seal') lookups.prefetch(keyName({ selector: text.tag('s'), domain: text.tag('d') }), 'TXT');
  }
  try {
    const chain = getARChain({ parsed: fields });
    if (chain === false || newest === undefined) return { broken: 'malformed chain' };
    const signature = readSignature(newest.line, 'ARC');
    if (!('signature' in signature)) return { broken: signature.reason };
    return { chain, signature };
  } catch {
    return { broken: 'malformed chain' };
  }
}

/** `message` is the result of the newest message signature. */
export async function checkChain(
  found: ArcFound,
  message: SignatureResult,
  lookups: Lookups,
): Promise<MethodResult | undefined> {
  if (found === 'none') return undefined;
  if ('broken' in found) return { method: 'arc', result: 'fail', comment: found.broken };
  const { chain } = found;
  const sealer = chain.at(-1)!;
  const properties = [['header.d', found.signature.domain]] as const;
  const failed = (comment: string) => ({ method: 'arc', result: 'fail', comment, properties }) as const;
  if (message.result !== 'pass') return failed('newest message signature did not verify');
  for (const { 'arc-seal': seal } of chain) Object.assign(seal, { signAlgo: 'rsa', algorithm: ALGORITHM });
  try {
    await verifyASChain({ chain }, { resolver: lookups.resolve, minBitLength: LEAST_BITS });
    return { method: 'arc', result: 'pass', comment: `i=${sealer.i}`, properties };
  } catch {
    return failed('a seal did not verify');
  }
}

interface ReadField {
  /** The field in the form that mailauth reads: only its tags. */
  readonly text: string;
  readonly instance: number;
  readonly tag: (name: string) => string;
}

function readField(line: HeaderLine): ReadField | undefined {
  if (line.raw.length > LONGEST_FIELD || LONG_RUN.test(line.raw)) return undefined;
  const value = fieldValue(line);
  // Only the number is used; the rest is text for people.
  const tags = line.name === 'arc-authentication-results' ? tagList(/^[^;]*/.exec(value)![0]) : tagList(value);
  const tag = (name: string) => compact(tags?.get(name) ?? '');
  const instance = /^[1-9]\d?$/.test(tag('i')) ? Number(tag('i')) : 0;
  if (tags === undefined || instance === 0) return undefined;
  // mailauth treats these characters as comments and quotes; a tag list has neither.
  if ([...tags.values()].some((each) => /["'()\\]/.test(each))) return undefined;
  // mailauth verifies only RSA seals; any other seal fails there.
  return { text: `${line.name}: ${written(tags)}`, instance, tag };
}

function written(tags: TagList): string {
  return [...tags].map(([name, value]) => `${name}=${compact(value)}`).join('; ');
}
