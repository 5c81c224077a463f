// Messages for the page to show: with text and HTML like that of a newsletter, which has a table, styles and links.
import { textOf } from '../support/text.js';

const PARAGRAPHS = 24;
const PARAGRAPH_OCTETS = 600;

/** Returns a message with this subject, of about 40 kB, ready for DATA. */
export function htmlMail(n: number, to: string, subject: string): string {
  const texts = Array.from({ length: PARAGRAPHS }, (_, i) => textOf(n * PARAGRAPHS + i, PARAGRAPH_OCTETS).trimEnd());
  const rows = texts.map(
    (text, i) =>
      `<tr><td style="padding: 12px 24px; font: 15px/1.5 Arial, sans-serif; color: #333333">\r\n` +
      `<h2 style="margin: 0; font-size: 18px">Part ${i}</h2>\r\n<p>${text}\r\n` +
      `<a href="https://remote.test/part/${i}" style="color: #0645ad">More of part ${i}</a></p></td></tr>`,
  );
  return [
    'From: News <news@remote.test>',
    `To: <${to}>`,
    `Subject: ${subject}`,
    `Message-ID: <${subject.replaceAll(' ', '-')}@remote.test>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary="=_parts"',
    '',
    '--=_parts',
    'Content-Type: text/plain; charset=utf-8',
    '',
    texts.join('\r\n\r\n'),
    '--=_parts',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<html><head><style>td { background: #ffffff } a:hover { color: #ff0000 }</style></head><body>',
    `<table width="600" align="center" cellpadding="0" cellspacing="0">${rows.join('\r\n')}</table></body></html>`,
    '--=_parts--',
    '.',
    '',
  ].join('\r\n');
}
