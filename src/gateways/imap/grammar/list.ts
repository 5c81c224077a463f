// The arguments of LIST, LSUB and STATUS (RFC 9051 §6.3.9 and §6.3.11, RFC 5258, RFC 5819). Names are decoded to composed Unicode,
// whatever the encoding on the wire.
import type { CommandReader, NamedMailbox } from '../wire/command-reader.js';
import { entryNames } from './metadata.js';

const STATUS_ITEMS = [
  'MESSAGES',
  'RECENT',
  'UIDNEXT',
  'UIDVALIDITY',
  'UNSEEN',
  'DELETED',
  'SIZE',
  'HIGHESTMODSEQ',
  'MAILBOXID',
  'APPENDLIMIT',
  'DELETED-STORAGE',
] as const;
export type StatusItem = (typeof STATUS_ITEMS)[number];

const SELECTIONS = ['SUBSCRIBED', 'REMOTE', 'RECURSIVEMATCH', 'SPECIAL-USE'] as const;
type Selection = (typeof SELECTIONS)[number];

export interface ListArguments {
  readonly selection: readonly Selection[];
  readonly reference: NamedMailbox;
  readonly patterns: readonly NamedMailbox[];
  /** Return options. */
  readonly withSubscribed: boolean;
  readonly withChildren: boolean;
  readonly withSpecialUse: boolean;
  readonly status: readonly StatusItem[] | undefined;
  /** RFC 9590: entries of metadata. */
  readonly metadata: readonly string[] | undefined;
  /** Whether the client used the extended syntax, so that the reply may use it too. */
  readonly isExtended: boolean;
}

export interface LsubArguments {
  readonly reference: string;
  readonly pattern: string;
}

export interface StatusArguments {
  readonly mailbox: string;
  readonly items: readonly StatusItem[];
}

type ReturnOptions = Pick<ListArguments, 'withSubscribed' | 'withChildren' | 'withSpecialUse' | 'status' | 'metadata'>;

/** Patterns per command: each one is matched with every folder. */
const MOST_PATTERNS = 100;

export function listArguments(reader: CommandReader): ListArguments {
  const hasSelection = reader.isListNext;
  const selection = hasSelection ? selectionOptions(reader) : [];
  const reference = reader.namedMailbox();
  reader.space();
  const hasPatterns = reader.isListNext;
  const patterns = hasPatterns ? patternList(reader) : [reader.mailboxPattern()];
  const hasReturn = reader.accept(' RETURN ');
  const options = returnOptions(reader, hasReturn);
  return { selection, reference, patterns, ...options, isExtended: hasSelection || hasPatterns || hasReturn };
}

export function lsubArguments(reader: CommandReader): LsubArguments {
  const reference = reader.mailbox();
  reader.space();
  return { reference, pattern: reader.mailboxPattern().name };
}

export function statusArguments(reader: CommandReader): StatusArguments {
  const mailbox = reader.mailbox();
  reader.space();
  return { mailbox, items: statusItems(reader) };
}

/** Reads items in parentheses, each once. */
function statusItems(reader: CommandReader): StatusItem[] {
  const items = reader.list(() => {
    const word = reader.word();
    const item = STATUS_ITEMS.find((known) => known === word);
    if (item === undefined) throw reader.fault('expected the name of a STATUS item');
    return item;
  }, 1);
  return [...new Set(items)];
}

function selectionOptions(reader: CommandReader): Selection[] {
  const selection = reader.list(() => {
    const word = reader.word();
    const option = SELECTIONS.find((known) => known === word);
    if (option === undefined) throw reader.fault(`expected ${SELECTIONS.join(', ')}`);
    return option;
  });
  reader.space();
  const chosen = new Set(selection);
  // RFC 5258 §3.1: RECURSIVEMATCH adds superiors of what another option selects, so it needs that option.
  const isWithoutBase = chosen.has('RECURSIVEMATCH') && !chosen.has('SUBSCRIBED') && !chosen.has('SPECIAL-USE');
  if (isWithoutBase) throw reader.fault('expected SUBSCRIBED or SPECIAL-USE beside RECURSIVEMATCH');
  return [...chosen];
}

function patternList(reader: CommandReader): NamedMailbox[] {
  let count = 0;
  return reader.list(() => {
    if (++count > MOST_PATTERNS) throw reader.fault(`expected no more than ${MOST_PATTERNS} patterns`);
    return reader.mailboxPattern();
  }, 1);
}

function returnOptions(reader: CommandReader, hasReturn: boolean): ReturnOptions {
  const words = new Set<string>();
  let status: StatusItem[] | undefined;
  let metadata: readonly string[] | undefined;
  if (hasReturn) {
    reader.list(() => {
      const word = reader.word();
      if (word === 'STATUS') {
        reader.space();
        status = statusItems(reader);
      } else if (word === 'METADATA') {
        reader.space();
        metadata = entryNames(reader);
      } else if (word === 'SUBSCRIBED' || word === 'CHILDREN' || word === 'SPECIAL-USE') words.add(word);
      else throw reader.fault('expected SUBSCRIBED, CHILDREN, SPECIAL-USE, STATUS or METADATA');
    });
  }
  const [withSubscribed, withChildren, withSpecialUse] = ['SUBSCRIBED', 'CHILDREN', 'SPECIAL-USE'].map((word) =>
    words.has(word),
  ) as [boolean, boolean, boolean];
  return { withSubscribed, withChildren, withSpecialUse, status, metadata };
}
