// The plain page of a link for one sign-in. It has no script: a form posts to the link itself. Its only style comes from `/link/page.css`.
// Only this file escapes text for HTML.
import { escapeUTF8 } from 'entities';
import type { HeaderField, ReplyStream } from '../exchange.js';

/** Where the page's style is, relative to a link. */
const STYLE_NAME = 'page.css';

/** A statement of the page, with what the visitor may do. */
export interface LinkPage {
  readonly title: string;
  /** Paragraphs. */
  readonly text: readonly string[];
  /** The command that the operator runs. */
  readonly command?: string;
  /** The button that signs in; `isConfirmed`: it says that the other account is to be signed out. */
  readonly button?: { readonly label: string; readonly isConfirmed: boolean };
}

/** The name of the field by which the form says that the visitor was asked. */
export const CONFIRMED = 'confirmed';

export const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 26rem; margin: 15vh auto 0; padding: 0 1.25rem; overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; }
button { font: inherit; font-weight: 600; padding: 0.5rem 1.25rem; border: 0; border-radius: 0.375rem; color: #fff; background: #1d5fd1; cursor: pointer; }
button:focus-visible, a:focus-visible { outline: 3px solid #7aa7f5; outline-offset: 2px; }
code { display: block; padding: 0.75rem; border: 1px solid #8888; border-radius: 0.375rem; }
`;

const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

export const PAGE_FIELDS: readonly HeaderField[] = [
  ['Content-Type', 'text/html; charset=utf-8'],
  ['Content-Security-Policy', POLICY],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
];

export function linkPage({ title, text, command, button }: LinkPage): ReplyStream {
  return streamOf(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeUTF8(title)} · Mansio</title>
<link rel="stylesheet" href="${STYLE_NAME}">
</head>
<body>
<main>
<h1>${escapeUTF8(title)}</h1>
${text.map((paragraph) => `<p>${escapeUTF8(paragraph)}</p>`).join('\n')}
${command === undefined ? '' : `<code>${escapeUTF8(command)}</code>\n`}${button === undefined ? '' : form(button)}</main>
</body>
</html>
`);
}

/** Without an action, the form posts to the address of the page. */
function form({ label, isConfirmed }: NonNullable<LinkPage['button']>): string {
  const confirmed = isConfirmed ? `<input type="hidden" name="${CONFIRMED}" value="yes">\n` : '';
  return `<form method="post">\n${confirmed}<button type="submit">${escapeUTF8(label)}</button>\n</form>\n`;
}

export function streamOf(content: string): ReplyStream {
  const octets = Buffer.from(content);
  return {
    length: octets.length,
    chunks: (async function* () {
      yield octets;
    })(),
  };
}
