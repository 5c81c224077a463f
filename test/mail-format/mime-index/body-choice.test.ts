// Tests the choice of body and attachments for the structures that mail programs send.

import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import test from '../../support/test.js';

interface Node {
  readonly type: string;
  readonly parts?: readonly Node[];
  readonly header?: string;
}

const plain: Node = { type: 'text/plain' };
const html: Node = { type: 'text/html' };
const pdf: Node = { type: 'application/pdf', header: 'Content-Disposition: attachment; filename=x.pdf\n' };
const image: Node = { type: 'image/png', header: 'Content-Disposition: inline\nContent-ID: <i@x>\n' };
const namedHtml: Node = { type: 'text/html; name=page.html' };
const photo: Node = { type: 'image/jpeg', header: 'Content-Disposition: inline\n' };
const excel: Node = { type: 'application/x-excel' };
const image2: Node = { type: 'image/png' };
const of = (subtype: string, ...parts: Node[]): Node => ({ type: `multipart/${subtype}`, parts });

function write(node: Node, level = 0): string {
  const header = `Content-Type: ${node.type}; boundary=b${level}\n${node.header ?? ''}\n`;
  if (node.parts === undefined) return `${header}body`;
  const parts = node.parts.map((part) => `--b${level}\n${write(part, level + 1)}\n`);
  return `${header}${parts.join('')}--b${level}--`;
}

function choice(node: Node): string {
  const index = indexMessage(Buffer.from(write(node)));
  const attachments = index.attachments.map((found) => found.section + (found.inline ? ' inline' : ''));
  return [index.textSections, index.htmlSections, attachments].map((list) => list.join(',')).join(' | ');
}

const related = (start: string, ...parts: Node[]): Node => ({
  type: `multipart/related; start="${start}"`,
  parts: parts.map((part, i) => ({ ...part, header: `${part.header ?? ''}Content-ID: <${i + 1}@x>\n` })),
});

for (const [name, node, expected] of [
  ['plain text', plain, '1 |  | '],
  ['html only', html, ' | 1 | '],
  ['a lone file', pdf, ' |  | 1'],
  ['text as an attachment', { type: 'text/plain', header: 'Content-Disposition: attachment\n' }, ' |  | 1'],
  ['alternative', of('alternative', plain, html), '1 | 2 | '],
  ['alternative with a related', of('alternative', plain, of('related', html, image)), '1 | 2.1 | 2.2 inline'],
  ['related around an alternative', of('related', of('alternative', plain, html), image), '1.1 | 1.2 | 2 inline'],
  [
    'mixed around all',
    of('mixed', of('alternative', plain, of('related', html, image)), pdf),
    '1.1 | 1.2.1 | 1.2.2 inline,2',
  ],
  ['alternative with files in its html', of('alternative', plain, of('mixed', html, pdf)), '1 | 2.1 | 2.2'],
  ['list footer after plain', of('mixed', plain, pdf, plain), '1,3 |  | 2'],
  ['list footer after an alternative', of('mixed', of('alternative', plain, html), plain), '1.1,2 | 1.2,2 | '],
  ['html between texts', of('mixed', plain, html, plain), '1,2,3 | 1,2,3 | '],
  ['a named text after the body', of('mixed', plain, { type: 'text/plain; name=log.txt' }), '1 |  | 2'],
  ['html in a related after its root', of('related', html, html), ' | 1 | 2'],
  ['related with a start', related('<2@x>', html, html), ' | 2 | 1 inline'],
  ['related with a start without brackets', related('3@x', image2, html, plain), '3 |  | 1 inline,2 inline'],
  [
    'related whose start is a named file',
    related('<2@x>', image2, { type: 'text/html; name=a.html' }),
    ' | 2 | 1 inline',
  ],
  ['related whose start is nobody', related('<9@x>', html, html), ' | 1 | 2 inline'],
  [
    'related whose start is nobody, with the type of its root',
    related('<9@x>"; type="text/html', image2, html),
    ' | 2 | 1 inline',
  ],
  [
    'related whose start is nobody of its type',
    related('<9@x>"; type="text/html', image2, plain),
    ' |  | 1 inline,2 inline',
  ],
  [
    'related whose ids have comments',
    of(
      'related; start="<2@x>"',
      { ...image2, header: 'Content-ID: <1@x>\n' },
      { ...html, header: 'Content-ID: (root) <2@x> (of (it))\n' },
    ),
    ' | 2 | 1 inline',
  ],
  [
    'related whose start is an alternative',
    related('<2@x>', html, of('alternative', plain, html)),
    '2.1 | 2.2 | 1 inline',
  ],
  ['invitation', of('alternative', plain, html, { type: 'text/calendar; method=REQUEST' }), '1 | 2 | 3'],
  ['amp', of('alternative', plain, { type: 'text/x-amp-html' }, html), '1 | 3 | '],
  ['signed', of('signed', of('alternative', plain, html), { type: 'application/pgp-signature' }), '1.1 | 1.2 | 2'],
  ['bounce', of('report', plain, { type: 'message/delivery-status' }, { type: 'message/rfc822' }), '1 |  | 2,3'],
  ['forwarded', { type: 'message/rfc822' }, ' |  | 1'],
  [
    'an alternative in an alternative',
    of('alternative', of('alternative', plain, html), image),
    '1.1 | 1.2 | 2 inline',
  ],
  [
    'an alternative three deep',
    of('alternative', of('alternative', of('alternative', html, plain))),
    '1.1.2 | 1.1.1 | ',
  ],
  [
    'an alternative with its files as a form',
    of('alternative', of('mixed', of('alternative', plain, html), pdf)),
    '1.1.1 | 1.1.2 | 1.2',
  ],
  [
    'a related that holds an alternative as a form',
    of('alternative', of('related', of('alternative', plain, html), image), image),
    '1.1.1 | 1.1.2 | 1.2 inline,2 inline',
  ],
  [
    'text of the html form',
    of('alternative', plain, of('mixed', html, of('mixed', pdf, plain))),
    '1 | 2.1,2.2.2 | 2.2.1',
  ],
  [
    'an alternative within the html form',
    of('alternative', plain, of('mixed', html, of('alternative', plain))),
    '1 | 2.1,2.2.1 | ',
  ],
  ['a named html beside the plain form', of('alternative', of('mixed', plain, namedHtml), html), '1.1 | 2 | 1.2'],
  [
    'alternative without a form that is shown',
    of('alternative', { type: 'text/x-amp-html' }, { type: 'text/enriched' }),
    ' |  | 1,2',
  ],
  [
    // RFC 8621 §4.1.4 has this example.
    'many of each',
    of(
      'mixed',
      plain,
      of('mixed', of('alternative', of('mixed', plain, photo, plain), of('related', html, photo)), photo, excel, {
        type: 'message/rfc822',
      }),
      plain,
    ),
    '1,2.1.1.1,2.1.1.3,3 | 1,2.1.2.1,3 | 2.1.1.2 inline,2.1.2.2 inline,2.2 inline,2.3,2.4',
  ],
  [
    'two alternatives',
    of('mixed', of('alternative', plain, html), of('alternative', html, plain)),
    '1.1,2.2 | 1.2,2.1 | ',
  ],
] as const) {
  test(name, (t) => t.is(choice(node), expected));
}
