// BODYSTRUCTURE and BODY (RFC 9051 §7.5.2) from the MIME index. Decoded parameters of the index are written with
// RFC 2231, descriptions with RFC 2047. A message part that the index does not descend into is shown as octets, because its
// sections do not exist.
import { embeddedMessage } from '../../../mail-format/body-section.js';
import type { IndexedPart } from '../../../mail-format/message-index.js';
import { octetsOf } from '../../sessions/output.js';
import { nstring, quoted } from '../wire/format.js';

/** Octets of text in one encoded word of a description; the word has at most 75 characters. */
const WORD_OCTETS = 45;
/** Characters outside of RFC 2231 `attribute-char`, which are percent-encoded. */
const NOT_ATTRIBUTE_CHAR = /[^!#$&+\-.0-9A-Z^_`a-z{|}~]/g;
const NOT_ASCII = /[^\0-\x7f]/;

/** Returns the roots of the embedded messages in their order; their envelopes are part of the structure. */
export function embeddedMessages(root: IndexedPart): readonly IndexedPart[] {
  const found: IndexedPart[] = [];
  const open = [root];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const message = embeddedMessage(part);
    if (message !== undefined) found.push(message);
    for (let i = part.parts.length - 1; i >= 0; i--) open.push(part.parts[i]!);
  }
  return found;
}

/**
 * Returns a binary string. `envelopes` has the ENVELOPE of each embedded message by its root. `isExtended` selects BODYSTRUCTURE;
 * otherwise it is BODY, which has no extension data.
 */
export function bodyStructureOf(
  root: IndexedPart,
  envelopes: ReadonlyMap<IndexedPart, string>,
  isExtended: boolean,
): string {
  // The limits of the index bound the depth of the recursion.
  const write = (part: IndexedPart): string => {
    if (part.type === 'multipart') {
      const extension = isExtended ? ` ${parameters(part.params)}${extensionOf(part)}` : '';
      return `(${part.parts.map(write).join('')} ${nstring(part.subtype)}${extension})`;
    }
    const extension = isExtended ? ` ${nstring(part.md5 ?? null)}${extensionOf(part)}` : '';
    const message = embeddedMessage(part);
    if (message !== undefined) {
      return `(${singlePart(part)} ${envelopes.get(message)!} ${write(message)} ${part.lines}${extension})`;
    }
    const lines = part.type === 'text' ? ` ${part.lines}` : '';
    return `(${singlePart(part)}${lines}${extension})`;
  };
  return write(root);
}

/** Media type, parameters, id, description, encoding and octets. */
function singlePart(part: IndexedPart): string {
  const params =
    part.type === 'text' && part.params['charset'] === undefined
      ? // RFC 2045 §5.2: the default charset of text.
        { charset: 'us-ascii', ...part.params }
      : part.params;
  const octets = part.bodyEnd - part.bodyStart;
  return (
    `${mediaType(part)} ${parameters(params)} ${nstring(part.id)} ${nstring(description(part.description))} ` +
    `${nstring(part.encoding)} ${octets}`
  );
}

function mediaType(part: IndexedPart): string {
  const isClosedMessage =
    part.type === 'message' && /^(?:rfc822|global)$/.test(part.subtype) && embeddedMessage(part) === undefined;
  return isClosedMessage ? '"application" "octet-stream"' : `${nstring(part.type)} ${nstring(part.subtype)}`;
}

/** Disposition, language and location. */
function extensionOf(part: IndexedPart): string {
  const disposition =
    part.disposition === null ? 'NIL' : `(${nstring(part.disposition)} ${parameters(part.dispositionParams)})`;
  const language = part.language.length === 0 ? 'NIL' : `(${part.language.map(quoted).join(' ')})`;
  return ` ${disposition} ${language} ${nstring(part.location)}`;
}

function parameters(params: Readonly<Record<string, string>>): string {
  let list = '';
  for (const name in params) {
    const value = params[name]!;
    const pair = NOT_ASCII.test(value) ? `"${name}*" "utf-8''${percentEncoded(value)}"` : `"${name}" ${quoted(value)}`;
    list += list === '' ? pair : ` ${pair}`;
  }
  return list === '' ? 'NIL' : `(${list})`;
}

function percentEncoded(text: string): string {
  return octetsOf(text).replace(
    NOT_ATTRIBUTE_CHAR,
    (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function description(text: string | null): string | null {
  return text !== null && NOT_ASCII.test(text) ? encodedWords(text).join(' ') : text;
}

/** RFC 2047. It replaces libmime's encoder, which splits some characters between words. */
function encodedWords(text: string): string[] {
  const words: string[] = [];
  let word = '';
  const end = () => words.push(`=?utf-8?B?${Buffer.from(word).toString('base64')}?=`);
  for (const character of text) {
    if (Buffer.byteLength(word + character) > WORD_OCTETS) {
      end();
      word = '';
    }
    word += character;
  }
  end();
  return words;
}
