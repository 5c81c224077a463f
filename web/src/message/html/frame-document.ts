// The document of the frame in which a mail is shown. The frame runs no scripts and has no origin; its own policy allows one style element
// and the images that were asked for, and nothing else. What the reader must see of links is in a layer that styles of the mail cannot
// override.
import { embeddedCss } from './allowed-styles.js';

export interface Palette {
  readonly scheme: 'light' | 'dark';
  readonly background: string;
  readonly text: string;
  readonly soft: string;
  readonly line: string;
  readonly link: string;
}

/** A mail that colors its text was made for white paper. */
export const PAPER: Palette = {
  scheme: 'light',
  background: '#ffffff',
  text: '#1f2328',
  soft: '#57606a',
  line: '#d0d7de',
  link: '#1a56c4',
};

export interface FrameContent {
  /** The body element, made safe. */
  readonly body: string;
  /** Rules of its style elements and of its inline styles, made safe. */
  readonly styles: string;
  readonly inlineStyles: string;
}

export interface FrameOptions {
  /** The nonce for styles of the page's policy, which the frame inherits. */
  readonly nonce: string;
  /** The origin of the page. */
  readonly origin: string;
  readonly palette: Palette;
  /** The title of the document, which screen readers tell. */
  readonly title: string;
  /** HTML that stands before the mail: the header of what is printed. */
  readonly head?: string;
}

/** Path of the image proxy. */
const IMAGE_PROXY = '/api/image-proxy';

export function frameDocument({ body, styles, inlineStyles }: FrameContent, options: FrameOptions): string {
  const { nonce, origin, palette, title, head = '' } = options;
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `img-src data: ${origin}${IMAGE_PROXY}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const css = [
    '@layer guard, base, mail, inline;',
    `@layer guard { ${guardRules(palette)} }`,
    `@layer base { ${baseRules(palette)} }`,
    `@layer mail { ${styles} }`,
    `@layer inline { ${inlineStyles} }`,
  ].join('\n');
  return [
    '<!doctype html><html><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">`,
    '<meta http-equiv="x-dns-prefetch-control" content="off"><meta name="referrer" content="no-referrer">',
    `<title>${escaped(title)}</title><style nonce="${escaped(nonce)}">${embeddedCss(css)}</style></head>`,
    head === '' ? body : body.replace(/^<body[^>]*>/, (start) => `${start}${head}`),
    '</html>',
  ].join('');
}

/** Important declarations of the first layer win over every other one. */
function guardRules({ scheme }: Palette): string {
  const [color, background] = scheme === 'light' ? ['#7a2e00', '#fff1e5'] : ['#ffd7b5', '#4a2a12'];
  return `
    html { overflow: auto !important; }
    .mansio-destination { all: initial !important; display: inline !important; color: ${color} !important;
      background: ${background} !important; font: 13px/1.4 system-ui, sans-serif !important; padding: 0 4px !important;
      border-radius: 4px !important; unicode-bidi: isolate !important; direction: ltr !important; }
    .mansio-quote > summary { all: revert !important; cursor: pointer !important; list-style: none !important; width: fit-content !important;
      padding: 0 8px !important; margin: 8px 0 !important; border: 1px solid currentColor !important; border-radius: 8px !important;
      opacity: 0.8 !important; font: 13px/1.6 system-ui, sans-serif !important; }`;
}

function baseRules({ scheme, background, text, soft, line, link }: Palette): string {
  return `
    html { color-scheme: ${scheme}; background: ${background}; }
    body { margin: 16px; color: ${text}; font: 15px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
    a { color: ${link}; }
    img { max-width: 100%; height: auto; }
    img:not([src]) { color: ${soft}; outline: 1px dashed ${line}; font-size: 13px; }
    img:not([src]):not([alt]), img[alt=""]:not([src]) { outline: none; }
    pre { white-space: pre-wrap; }
    .mansio-text { font: inherit; unicode-bidi: plaintext; }
    blockquote { margin: 8px 0; margin-inline-start: 0; padding-inline-start: 12px; border-inline-start: 2px solid ${line}; }
    .mansio-head { margin: 0 0 16px; padding: 0 0 12px; border-bottom: 1px solid ${line}; }
    .mansio-head h1 { font-size: 22px; margin: 0 0 8px; }
    .mansio-head p { margin: 0; }
    @media print { html { background: none; } body { margin: 0; } .mansio-quote > summary { display: none; } }`;
}

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are no part of HTML.
const NO_TEXT = /[\u0000-\u0008\u000b\u000e-\u001f\ufffe\uffff]/g;

/** Makes text that can stand between tags and in a quoted attribute. */
export function escaped(text: string): string {
  return text.replace(NO_TEXT, '').replace(/[&<>"']/g, (character) => REFERENCES[character]!);
}
