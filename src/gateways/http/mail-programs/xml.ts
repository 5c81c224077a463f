// Writes XML documents for mail programs from a tree of elements. Only this file escapes text; a character that XML 1.0 does not allow
// (§2.2) becomes U+FFFD.
import { escapeUTF8 } from 'entities';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly content: string | readonly XmlElement[];
}

const INDENT = '  ';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches them
const NO_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu;

export const element = (
  name: string,
  content: XmlElement['content'],
  attributes: XmlElement['attributes'] = {},
): XmlElement => ({ name, attributes, content });

/** `doctype`: the text between `<!DOCTYPE ` and `>`. */
export function xmlDocument(root: XmlElement, doctype?: string): string {
  const declaration = '<?xml version="1.0" encoding="utf-8"?>';
  const head = doctype === undefined ? [declaration] : [declaration, `<!DOCTYPE ${doctype}>`];
  return [...head, ...linesOf(root), ''].join('\n');
}

function linesOf({ name, attributes, content }: XmlElement): readonly string[] {
  const start = Object.entries(attributes).reduce((tag, [key, value]) => `${tag} ${key}="${escaped(value)}"`, name);
  if (content.length === 0) return [`<${start}/>`];
  if (typeof content === 'string') return [`<${start}>${escaped(content)}</${name}>`];
  const inner = content.flatMap(linesOf).map((line) => INDENT + line);
  return [`<${start}>`, ...inner, `</${name}>`];
}

function escaped(text: string): string {
  return escapeUTF8(text.replace(NO_XML, '\ufffd'));
}
