// Lists the FETCH attributes that are compared for a golden message: its structure, all sections that it has, and some that it
// does not have.
import { embeddedMessage } from '../../src/mail-format/body-section.js';
import type { IndexedPart } from '../../src/mail-format/message-index.js';

export function goldenAttributes(root: IndexedPart): readonly string[] {
  const sections = ['', 'HEADER', 'TEXT', 'HEADER.FIELDS (From X-FOLDED subject)', 'HEADER.FIELDS.NOT (From Subject)'];
  const numbers = numbersOf(root);
  for (const number of numbers) sections.push(number, ...['MIME', 'HEADER', 'TEXT'].map((text) => `${number}.${text}`));
  return [
    'ENVELOPE',
    'BODYSTRUCTURE',
    'BODY',
    'RFC822.SIZE',
    ...sections.map((section) => `BODY.PEEK[${section}]`),
    'BODY.PEEK[1]<2.4>',
    'BODY.PEEK[]<100000.4>',
    ...numbers.flatMap((number) => [`BINARY.PEEK[${number}]`, `BINARY.SIZE[${number}]`]),
  ];
}

/** Returns the numbers of all parts, and one number after the last. */
function numbersOf(root: IndexedPart): readonly string[] {
  const found: string[] = [];
  const visit = (part: IndexedPart, prefix: string) => {
    if (part.type === 'multipart') {
      for (const [i, child] of part.parts.entries()) {
        found.push(`${prefix}${i + 1}`);
        inside(child, `${prefix}${i + 1}.`);
      }
    } else {
      found.push(`${prefix}1`);
      inside(part, `${prefix}1.`);
    }
  };
  const inside = (part: IndexedPart, prefix: string) => {
    const message = embeddedMessage(part);
    if (message !== undefined) visit(message, prefix);
    else if (part.type === 'multipart') visit(part, prefix);
  };
  visit(root, '');
  found.push(String(Math.max(1, root.parts.length) + 1));
  return found;
}
