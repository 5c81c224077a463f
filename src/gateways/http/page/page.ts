// Serves the page: its document for every path that the API does not have, when a browser navigates there, and its files by their paths.
// The content security policy allows nothing from elsewhere, and no inline script or style. The only inline styles are those that carry the
// nonce of the response: the frame of a message inherits the policy, and shows the message's own styles with that nonce.
import { randomBytes } from 'node:crypto';
import type { HeaderField, HttpReply, HttpRequest } from '../exchange.js';
import { revalidated } from '../pipeline/revalidation.js';
import { SECURITY_HEADERS } from '../pipeline/security-headers.js';
import { ENCODINGS, type Encoding, type PageFile, type PageFiles } from './page-files.js';

/** Paths of the API and of what other programs look up; the page has all others. */
const RESERVED = /^\/(?:config.*|(?:api|hubs|link|verify|\.well-known|mail|autodiscover|healthz)(?:\/.*)?)$/i;
const PLACEHOLDER = '%STYLE_NONCE%';
const HTML: HeaderField = ['Content-Type', 'text/html; charset=utf-8'];
/** The build puts files here whose names change with their content. */
const HASHED = '/assets/';
const FOR_EVER: HeaderField = ['Cache-Control', 'public, max-age=31536000, immutable'];
const REVALIDATED: HeaderField = ['Cache-Control', 'no-cache'];
const NONCE_OCTETS = 16;

/** The policy of the document, whose styles inline have the nonce. */
export function documentPolicy(nonce: string): HeaderField {
  return policy(`'self' 'nonce-${nonce}'`);
}

function policy(styles: string): HeaderField {
  const directives = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify mansio-mail mansio-worker',
  ];
  return ['Content-Security-Policy', directives.join('; ')];
}

const COMMON: readonly HeaderField[] = [...SECURITY_HEADERS, ['Cross-Origin-Opener-Policy', 'same-origin']];
/** A worker has the policy of its own file. */
const FILE_FIELDS: readonly HeaderField[] = [...COMMON, policy("'self'")];

export class Page {
  readonly #index: readonly string[];
  readonly #files: PageFiles['files'];

  constructor({ index, files }: PageFiles) {
    this.#index = index.split(PLACEHOLDER);
    this.#files = files;
  }

  /** Whether the path belongs to the page, which may have nothing there. */
  owns(path: string): boolean {
    return !RESERVED.test(path);
  }

  /** Undefined when the page has nothing for the request: 404. */
  answer({ method, path, headers }: HttpRequest): HttpReply | undefined {
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    const file = this.#files.get(path);
    if (file !== undefined) return fileReply(path, file, headers);
    const isRoot = path === '/' || path === '/index.html';
    const accept = headers.get('accept') ?? '*/*';
    // A script or a program that asks for a file which does not exist accepts anything, and must not get the document.
    const isNavigation = acceptsType(accept, isRoot ? ['text/html', 'text/*', '*/*'] : ['text/html']);
    return isNavigation ? this.#document() : undefined;
  }

  #document(): HttpReply {
    const nonce = randomBytes(NONCE_OCTETS).toString('base64');
    return {
      status: 200,
      headers: [...COMMON, documentPolicy(nonce), HTML, REVALIDATED],
      body: Buffer.from(this.#index.join(nonce)),
    };
  }
}

function fileReply(path: string, file: PageFile, headers: HttpRequest['headers']): HttpReply {
  const encoding = ENCODINGS.find(
    (one) => file.encoded.has(one) && acceptsType(headers.get('accept-encoding') ?? '', [one, '*']),
  );
  const reply = {
    status: 200,
    headers: [
      ...FILE_FIELDS,
      ['Content-Type', file.type],
      path.startsWith(HASHED) ? FOR_EVER : REVALIDATED,
      ['ETag', tagOf(file, encoding)],
      ...(file.encoded.size > 0 ? [['Vary', 'Accept-Encoding'] as const] : []),
      ...(encoding === undefined ? [] : [['Content-Encoding', encoding] as const]),
    ] satisfies readonly HeaderField[],
  };
  const current = revalidated(reply, headers.get('if-none-match'));
  if (current.status === 304)
    return { status: 304, headers: [...SECURITY_HEADERS, ...(current.headers ?? [])], body: null };
  return { ...reply, body: (encoding && file.encoded.get(encoding)) ?? file.content };
}

/** The forms of a file differ, and so do their tags (RFC 9110 §8.8.3.3). */
function tagOf({ tag }: PageFile, encoding: Encoding | undefined): string {
  return encoding === undefined ? `"${tag}"` : `"${tag}-${encoding}"`;
}

/** Whether a list such as that of Accept has one of the names, not with the weight 0 (RFC 9110 §12.4.2). */
function acceptsType(list: string, names: readonly string[]): boolean {
  return list.split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return names.includes(name) && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
