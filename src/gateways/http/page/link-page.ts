// The plain page of a link, for one sign-in or the verification of an address. It has no script: a form posts to the link itself. Its only
// style comes from `/link/page.css`. `link-texts.ts` has the texts of a sign-in. Only this file escapes text for HTML.
import { escapeUTF8 } from 'entities';
import type { HeaderField, ReplyStream } from '../exchange.js';
import type { LinkTexts } from './link-texts.js';

/** Where the page's style is, relative to a link. */
const STYLE_NAME = 'page.css';

/** A statement of the page, with what the visitor may do. */
export interface LinkPage {
  readonly language: LinkTexts['language'];
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

/** The look of the sign-in of the page, with its colours and sizes (web/src/design/tokens.css). */
export const STYLE = `:root {
  color-scheme: light dark;
  --background: light-dark(oklch(98.6% 0.003 250), oklch(19% 0.012 255));
  --panel: light-dark(white, oklch(22.5% 0.013 255));
  --sunk: light-dark(oklch(96.6% 0.005 250), oklch(17% 0.012 255));
  --line: light-dark(oklch(91.5% 0.006 252), oklch(31% 0.014 256));
  --text: light-dark(oklch(25% 0.02 258), oklch(93% 0.006 255));
  --accent: light-dark(oklch(52% 0.17 262), oklch(74% 0.13 258));
  --accent-hover: light-dark(oklch(47% 0.17 262), oklch(79% 0.12 258));
  --on-accent: light-dark(white, oklch(20% 0.03 260));
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  --font-mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, "DejaVu Sans Mono", monospace;
  --size-small: 0.8125rem;
  --size: 0.875rem;
  --size-title: 1.375rem;
  --radius: 8px;
  --radius-large: 12px;
}
* { box-sizing: border-box; }
body {
  display: grid;
  place-items: center;
  min-height: 100vh;
  margin: 0;
  padding: 16px;
  background: var(--background);
  color: var(--text);
  font: var(--size) / 1.5 var(--font);
  overflow-wrap: anywhere;
}
main {
  display: grid;
  gap: 16px;
  width: min(420px, 100%);
  padding: 28px;
  border: 1px solid var(--line);
  border-radius: var(--radius-large);
  background: var(--panel);
}
h1, p { margin: 0; }
h1 { font-size: var(--size-title); }
form { display: grid; }
button {
  min-height: 36px;
  padding: 6px 14px;
  border: 1px solid transparent;
  border-radius: var(--radius);
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button:hover { background: var(--accent-hover); }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code {
  padding: 8px 12px;
  border-radius: var(--radius);
  background: var(--sunk);
  font: var(--size-small) / 1.5 var(--font-mono);
  direction: ltr;
  text-align: left;
}
@media (pointer: coarse) {
  button { min-height: 44px; }
}
`;

const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

export const PAGE_FIELDS: readonly HeaderField[] = [
  ['Content-Type', 'text/html; charset=utf-8'],
  ['Content-Security-Policy', POLICY],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
];

/** `style`: where the style is, relative to the page. */
export function linkPage({ language, title, text, command, button }: LinkPage, style = STYLE_NAME): ReplyStream {
  const direction = language === 'ar' ? 'rtl' : 'ltr';
  return streamOf(`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeUTF8(title)} · Mansio</title>
<link rel="stylesheet" href="${style}">
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
