// Generates MIME trees for property tests, and writes a tree as a message.
import fc from 'fast-check';

interface Leaf {
  readonly kind: 'leaf';
  readonly header: string;
  readonly body: string;
}
interface Multipart {
  readonly kind: 'multipart';
  readonly subtype: string;
  readonly preamble: string;
  readonly parts: readonly Tree[];
  readonly closed: boolean;
}
interface Embedded {
  readonly kind: 'message';
  readonly root: Tree;
}
export type Tree = Leaf | Multipart | Embedded;

const line = fc.oneof(
  fc.stringMatching(/^[ -~]{0,30}$/),
  fc.constantFrom('--', '--b', '-', '', '--b0--x', 'a\rb', 'é'),
);
const text = fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n'));
const headers = fc.constantFrom(
  '',
  'Content-Type: text/plain\n',
  'Content-Type: text/html; charset=utf-8\n',
  'Content-Type: application/pdf;\n name="a.pdf"\nContent-Transfer-Encoding: base64\n',
  'Content-Type: image/png\nContent-Transfer-Encoding: quoted-printable\nContent-Disposition: inline\n',
);

export const { tree: mimeTree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constant('leaf' as const), header: headers, body: text }),
    fc.record({
      kind: fc.constant('multipart' as const),
      subtype: fc.constantFrom('mixed', 'alternative', 'related', 'digest'),
      preamble: text,
      parts: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }),
      closed: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('message' as const), root: tie('tree') }),
  ),
}));

/** Returns the message with its own delimiter for each level, and lines ending in LF; collects the leaf bodies in order. */
export function writtenTree(tree: Tree, bodies: string[] = []): string {
  return write(tree, 0, bodies, true);
}

function write(node: Tree, level: number, bodies: string[], inMessage: boolean): string {
  if (node.kind === 'leaf') {
    // The default type within a digest is a message, so a leaf declares its type.
    const header = node.header === '' && !inMessage ? 'Content-Type: text/plain\n' : node.header;
    bodies.push(node.body);
    return `${header}\n${node.body}`;
  }
  if (node.kind === 'message') return `Content-Type: message/rfc822\n\n${write(node.root, level + 1, bodies, true)}`;
  const boundary = `b${level}=_${node.subtype}`;
  const parts = node.parts.map((part) => `--${boundary}\n${write(part, level + 1, bodies, false)}\n`);
  const end = node.closed ? `--${boundary}--` : `--${boundary}--\nepilogue`;
  return `Content-Type: multipart/${node.subtype}; boundary="${boundary}"\n\n${node.preamble}\n${parts.join('')}${end}`;
}
