// What the junk filter sees in a message: words of its texts and pairs of neighbours, hosts of links and traits of the markup, and the words
// of header fields with the field's name. It works on octets: a letter is an ASCII letter, a digit, or any octet beyond ASCII, whatever the
// charset. Case is folded, except in the subject.
import { decodeTransfer } from '../decode/transfer.js';
import type { IndexedPart, MessageIndex } from '../message-index.js';
import { headerTokens } from './header-tokens.js';
import { type JunkCut, rangesOf } from './junk-cut.js';
import { textTokens } from './text-tokens.js';
import { hashOf, TokenSet } from './token-set.js';

/** `pieces`: the octets of `rangesOf(cut)`. Returns each token once. */
export function junkTokens(index: MessageIndex, cut: JunkCut, pieces: readonly Uint8Array[]): Uint32Array {
  const tokens = new TokenSet();
  shapeTokens(index, tokens);
  headerTokens(pieces[0]!, tokens);
  for (const [i, { part }] of cut.texts.entries()) {
    textTokens(decodeTransfer(part.encoding, pieces[i + 1]!), part.subtype === 'html', tokens);
  }
  return tokens.tokens();
}

/** The tokens of a message that is in memory. */
export function tokensOfMessage(index: MessageIndex, cut: JunkCut, octets: Uint8Array): Uint32Array {
  return junkTokens(
    index,
    cut,
    rangesOf(cut).map(({ start, end }) => octets.subarray(start, end)),
  );
}

const SHAPE = hashOf('shape:');
const FILE = hashOf('file:');
const MOST_PARTS = 8;

/** The kinds of the parts, and of the files. */
function shapeTokens({ root, attachments, textSections, htmlSections }: MessageIndex, tokens: TokenSet): void {
  partTokens(root, 0, tokens);
  const text = textSections.length > 0;
  const html = htmlSections.length > 0;
  tokens.add(hashOf(`${text} ${html} ${Math.min(attachments.length, 3)}`, SHAPE));
  for (const { fileName, contentType } of attachments.slice(0, MOST_PARTS)) {
    tokens.add(hashOf(fileName.slice(-5).toLowerCase(), FILE));
    tokens.add(hashOf(contentType, FILE));
  }
}

function partTokens(part: IndexedPart, depth: number, tokens: TokenSet): void {
  const { type, subtype, params, encoding } = part;
  tokens.add(hashOf(`${depth}${type}/${subtype} ${encoding}`, SHAPE));
  if (params['charset'] !== undefined) tokens.add(hashOf(params['charset'].slice(0, 20).toLowerCase(), SHAPE));
  for (const child of part.parts.slice(0, MOST_PARTS)) if (depth < 3) partTokens(child, depth + 1, tokens);
}
