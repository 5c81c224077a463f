// The choice of body and attachments for the structures that mail programs send.
import test from 'ava';
import { indexMessage } from '../../../src/mail/mime-index/indexer.js';

interface Node {
  readonly type: string;
  readonly parts?: readonly Node[];
  readonly header?: string;
}

const plain: Node = { type: 'text/plain' };
const html: Node = { type: 'text/html' };
const pdf: Node = { type: 'application/pdf', header: 'Content-Disposition: attachment; filename=x.pdf\n' };
const image: Node = { type: 'image/png', header: 'Content-Disposition: inline\nContent-ID: <i@x>\n' };
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
  ['invitation', of('alternative', plain, html, { type: 'text/calendar; method=REQUEST' }), '1 | 2 | 3'],
  ['amp', of('alternative', plain, { type: 'text/x-amp-html' }, html), '1 | 3 | '],
  ['signed', of('signed', of('alternative', plain, html), { type: 'application/pgp-signature' }), '1.1 | 1.2 | 2'],
  ['bounce', of('report', plain, { type: 'message/delivery-status' }, { type: 'message/rfc822' }), '1 |  | 2,3'],
  ['forwarded', { type: 'message/rfc822' }, ' |  | 1'],
  [
    'two alternatives',
    of('mixed', of('alternative', plain, html), of('alternative', html, plain)),
    '1.1,2.2 | 1.2,2.1 | ',
  ],
] as const) {
  test(name, (t) => t.is(choice(node), expected));
}
