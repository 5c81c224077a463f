// The fields of a header that describe its body (RFC 2045, 2183, 3282, 2557): type, encoding, disposition and the others, decoded and
// capped. libmime decodes RFC 2231 parameters. A malformed field counts as missing.
import libmime from 'libmime';
import { withoutComments } from './field-comments.js';
import type { HeaderFields } from './header-fields.js';
import { clean, type WordDecoder } from './header-text.js';

/** The characters of one structured field that are read; the rest is ignored. */
const STRUCTURED_LIMIT = 8 * 1024;
const PARAMETERS = 64;
const LANGUAGES = 20;
const LONGEST_BOUNDARY = 900;

export interface ContentFields {
  type: string;
  subtype: string;
  params: Record<string, string>;
  id: string | null;
  description: string | null;
  encoding: string;
  disposition: string | null;
  dispositionParams: Record<string, string>;
  language: readonly string[];
  location: string | null;
  md5?: string;
}

const MEDIA_TYPE = /^([\w!#$%&'*+.^`{|}~-]{1,127})\s*\/\s*([\w!#$%&'*+.^`{|}~-]{1,127})/;
const TOKEN = /^[\w!#$%&'*+.^`{|}~-]{1,64}/;
/** Matches 16 octets in base64 that are not part of a longer word. */
const MD5 = /(?<![\w+/])[A-Za-z\d+/]{22}==(?![\w+/=])/;

export function contentFields(fields: HeaderFields, words: WordDecoder, digest: boolean): ContentFields {
  const contentType = structured(fields, 'content-type');
  const media = contentType === undefined ? null : MEDIA_TYPE.exec(contentType);
  const disposition = structured(fields, 'content-disposition');
  const dispositionType = disposition === undefined ? undefined : TOKEN.exec(disposition)?.[0].toLowerCase();
  const description = fields.first('content-description');
  const md5 = MD5.exec(fields.first('content-md5') ?? '')?.[0];
  // RFC 2046 §5.1.5: parts of a digest are messages by default.
  const byDefault = digest && contentType === undefined ? 'message/rfc822' : 'text/plain';
  const [type = '', subtype = ''] = byDefault.split('/');
  return {
    type: (media?.[1] ?? type).toLowerCase(),
    subtype: (media?.[2] ?? subtype).toLowerCase(),
    params: media === null ? {} : parameters(contentType!, words),
    id: short(fields.first('content-id')),
    description: description === undefined ? null : words.text(description) || null,
    encoding: TOKEN.exec(structured(fields, 'content-transfer-encoding') ?? '')?.[0].toLowerCase() ?? '7bit',
    disposition: dispositionType ?? null,
    dispositionParams: dispositionType === undefined ? {} : parameters(disposition!, words),
    language: languages(structured(fields, 'content-language')),
    location: short(fields.first('content-location')?.replace(/\s+/g, '')),
    ...(md5 !== undefined && { md5 }),
  };
}

/** Returns the part of the field that is read, without its comments. */
function structured(fields: HeaderFields, name: string): string | undefined {
  const field = fields.first(name);
  return field === undefined ? undefined : withoutComments(field.slice(0, STRUCTURED_LIMIT));
}

/** Returns true when the part is a message (RFC 2046 §5.2.1, RFC 6532 §3.7), not a report about one. */
export function isMessage({ type, subtype }: Pick<ContentFields, 'type' | 'subtype'>): boolean {
  return type === 'message' && (subtype === 'rfc822' || subtype === 'global');
}

/** Returns the boundary of a multipart as octets read as latin1; undefined when it has no usable one. */
export function boundaryOf(content: ContentFields): string | undefined {
  const boundary = content.params['boundary']?.trimEnd();
  if (boundary === undefined || boundary === '' || boundary.length > LONGEST_BOUNDARY) return undefined;
  return Buffer.from(boundary).toString('latin1');
}

function parameters(field: string, words: WordDecoder): Record<string, string> {
  if (!field.includes(';')) return {};
  let text = field;
  const marks = text.includes('*') ? text.split('*').length : 0;
  // When the budget is used up, continuations and charsets stay undecoded.
  if (marks > 0 && !words.spend(text, marks)) text = text.replaceAll('*', '_');
  const kept: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of Object.entries(libmime.parseHeaderValue(text).params)) {
    if (TOKEN.exec(name)?.[0] !== name || name === '__proto__') continue;
    if (count++ === PARAMETERS) break;
    // A boundary is compared with octets of the body, so it is never decoded as an encoded word.
    kept[name] = name === 'boundary' ? clean(value) : words.text(value);
  }
  return kept;
}

function languages(field: string | undefined): readonly string[] {
  if (field === undefined) return [];
  const tags = field.split(',', LANGUAGES).map(clean);
  return tags.filter((tag) => tag !== '');
}

function short(value: string | undefined): string | null {
  return value === undefined ? null : clean(value.slice(0, 2048)) || null;
}
