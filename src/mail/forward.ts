// The content of a forward: what its sender writes, then who wrote the original to whom and when, then the original's own
// text, once as text and once as html.
import type { IndexedAddress, IndexedEnvelope } from './message-index.js';

const RULE = '---------- Forwarded message ----------';

export function forwardedText(comment: string, envelope: IndexedEnvelope, text: string): string {
  const about = particulars(envelope).map(([name, value]) => `${name}: ${value}`);
  return [...(comment === '' ? [] : [comment, '']), RULE, ...about, '', text].join('\n');
}

/** The original's html follows as it was, its own head included: html in the middle of html is read as more of it. */
export function forwardedHtml(comment: string, envelope: IndexedEnvelope, html: string): string {
  const about = particulars(envelope).map(([name, value]) => `<b>${name}:</b> ${escaped(value)}<br>`);
  const before = comment === '' ? '' : `<div style="white-space: pre-wrap">${escaped(comment)}</div>\n<br>\n`;
  return `${before}<div>${RULE}<br>\n${about.join('\n')}\n</div>\n<br>\n${html}`;
}

function particulars({ from, date, subject, to, cc }: IndexedEnvelope): readonly (readonly [string, string])[] {
  const rows = [
    ['From', list(from)],
    ['Date', date ?? ''],
    ['Subject', subject],
    ['To', list(to)],
    ['Cc', list(cc)],
  ] as const;
  return rows.filter(([, value]) => value !== '');
}

const list = (mailboxes: readonly IndexedAddress[]): string =>
  mailboxes
    .map(({ name, address }) => (name === '' ? address : address === '' ? name : `${name} <${address}>`))
    .join(', ');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
