// The arguments of FETCH (RFC 9051 §6.4.5, and the extensions that add to it).
import type { CommandReader } from '../wire/command-reader.js';
import { type ResultPage, resultPage } from './result-page.js';
import { binarySection, type PartialRange, partialRange, type Section, section } from './section.js';
import { type SequenceSet, sequenceSet } from './sequence-set.js';

export type { ResultPage } from './result-page.js';

/** BODY is BODYSTRUCTURE without the extension data. */
const PLAIN = [
  'UID',
  'FLAGS',
  'INTERNALDATE',
  'RFC822.SIZE',
  'ENVELOPE',
  'BODY',
  'BODYSTRUCTURE',
  'MODSEQ',
  'EMAILID',
  'THREADID',
  'SAVEDATE',
  'RFC822',
  'RFC822.HEADER',
  'RFC822.TEXT',
] as const;
type PlainAttribute = (typeof PLAIN)[number];

export type FetchAttribute =
  | { readonly type: PlainAttribute }
  /** RFC 8970. */
  | { readonly type: 'PREVIEW'; readonly isLazy: boolean }
  | {
      readonly type: 'BODY[]';
      readonly section: Section;
      readonly partial: PartialRange | undefined;
      /** Whether the attribute leaves `\Seen` unset. */
      readonly isPeek: boolean;
    }
  | {
      readonly type: 'BINARY[]';
      readonly part: readonly number[];
      readonly partial: PartialRange | undefined;
      readonly isPeek: boolean;
    }
  | { readonly type: 'BINARY.SIZE'; readonly part: readonly number[] };

export interface FetchArguments {
  readonly set: SequenceSet;
  /** Macros are resolved, and each attribute appears once. */
  readonly attributes: readonly FetchAttribute[];
  /** RFC 7162. */
  readonly changedSince: number | undefined;
  /** RFC 7162: also report which messages were expunged since. Only UID FETCH may have it, which the caller checks. */
  readonly withVanished: boolean;
  readonly page: ResultPage | undefined;
}

const plainAttributes = new Map<string, FetchAttribute>(PLAIN.map((type) => [type, { type }]));
const ofTypes = (...types: PlainAttribute[]): FetchAttribute[] => types.map((type) => ({ type }));
const FAST = ofTypes('FLAGS', 'INTERNALDATE', 'RFC822.SIZE');
const MACROS = new Map<string, readonly FetchAttribute[]>([
  ['FAST', FAST],
  ['ALL', [...FAST, ...ofTypes('ENVELOPE')]],
  ['FULL', [...FAST, ...ofTypes('ENVELOPE', 'BODY')]],
]);

export function fetchArguments(reader: CommandReader): FetchArguments {
  const set = sequenceSet(reader);
  reader.space();
  const attributes = reader.isListNext ? fetchAttributes(reader) : macroOrAttribute(reader);
  return { set, attributes, ...modifiers(reader) };
}

/** Attributes per command: each one is looked up in every message. */
const MOST_ATTRIBUTES = 500;

/** Reads a list of attributes in parentheses; each appears once. */
export function fetchAttributes(reader: CommandReader): FetchAttribute[] {
  const found = new Map<string, FetchAttribute>();
  reader.list(() => {
    if (found.size === MOST_ATTRIBUTES) throw reader.fault(`expected no more than ${MOST_ATTRIBUTES} attributes`);
    const from = reader.position;
    const attribute = fetchAttribute(reader);
    found.set(reader.textSince(from).toUpperCase(), attribute);
  }, 1);
  return [...found.values()];
}

function macroOrAttribute(reader: CommandReader): readonly FetchAttribute[] {
  const word = reader.word();
  return MACROS.get(word) ?? [attributeNamed(reader, word)];
}

const fetchAttribute = (reader: CommandReader): FetchAttribute => attributeNamed(reader, reader.word());

function attributeNamed(reader: CommandReader, word: string): FetchAttribute {
  if (reader.isNext('[')) return sectionNamed(reader, word);
  if (word === 'PREVIEW') return { type: 'PREVIEW', isLazy: reader.accept(' (LAZY)') };
  const attribute = plainAttributes.get(word);
  if (attribute === undefined) throw reader.fault('expected the name of an attribute of FETCH');
  return attribute;
}

function sectionNamed(reader: CommandReader, word: string): FetchAttribute {
  const isPeek = word.endsWith('.PEEK');
  if (word === 'BODY' || word === 'BODY.PEEK') {
    return { type: 'BODY[]', section: section(reader), partial: partialRange(reader), isPeek };
  }
  if (word === 'BINARY' || word === 'BINARY.PEEK') {
    return { type: 'BINARY[]', part: binarySection(reader), partial: partialRange(reader), isPeek };
  }
  if (word === 'BINARY.SIZE') return { type: 'BINARY.SIZE', part: binarySection(reader) };
  throw reader.fault('expected BODY, BINARY or BINARY.SIZE before [');
}

function modifiers(reader: CommandReader): Pick<FetchArguments, 'changedSince' | 'withVanished' | 'page'> {
  let changedSince: number | undefined;
  let withVanished = false;
  let page: ResultPage | undefined;
  if (!reader.isAtEnd) {
    reader.space();
    reader.list(() => {
      const word = reader.word();
      if (word === 'VANISHED') {
        withVanished = true;
        return;
      }
      reader.space();
      // RFC 7162 §7 starts at 1; clients without a copy of the mailbox send 0, which STORE and QRESYNC accept too.
      if (word === 'CHANGEDSINCE') changedSince = reader.number64();
      else if (word === 'PARTIAL') page = resultPage(reader);
      else throw reader.fault('expected CHANGEDSINCE, VANISHED or PARTIAL');
    }, 1);
  }
  if (withVanished && changedSince === undefined) throw reader.fault('expected CHANGEDSINCE beside VANISHED');
  return { changedSince, withVanished, page };
}
