// The domains of the From field, whose policies DMARC applies (RFC 9989 §5.3.1), and whether the field can be read in only one way. Field
// names and addresses are read as leniently as mail programs read them, so that no form of a header shows an author that was not checked. A
// field that two programs may read differently is malformed.
import { ADDRESS, addressSkeleton, DOUBTFUL, trimmedItem } from '../header/address-skeleton.js';
import { fieldValue, type HeaderLine } from '../header/header-lines.js';
import { addressList } from '../mime-index/address-list.js';
import { eightBit, WordDecoder } from '../mime-index/header-text.js';
import { authorDomain } from './author-domain.js';

export type AuthorFault = 'missing' | 'multiple' | 'malformed';

export interface Authors {
  /** The domains in the form for look-ups, each once, in order. Empty when no author has a domain. */
  readonly domains: readonly string[];
  /** The reason why the author is unknown: the From field is missing, repeated or malformed. */
  readonly fault: AuthorFault | undefined;
}

/** The most addresses and fields that are read. */
const MOST = 50;
/** The most characters of a field. It limits the time that the expressions below take. */
const LONGEST_FIELD = 4096;
const LONGEST_NAME = 80;
const ANGLE = /<([^<>]*)>/g;
const IN_ANGLES = new RegExp(`^\\s*${ADDRESS}\\s*$`);
/** Replaces an address in angle brackets. */
const MARK = '\u0000';

export function authorsOf(lines: readonly HeaderLine[]): Authors {
  const domains = new Set<string>();
  const words = new WordDecoder();
  const fields = lines.filter(isFrom).slice(0, MOST);
  let isReadable = true;
  for (const field of fields) {
    const value = eightBit(fieldValue(field).trim());
    const { addresses, truncated } = addressList(value, MOST, words);
    isReadable &&= !truncated && isUnambiguous(value);
    for (const { address } of addresses) {
      const domain = authorDomain(address);
      if (domain !== undefined) domains.add(domain);
      else if (address.includes('@')) isReadable = false;
    }
  }
  const fault = faultOf(fields.length, isReadable && domains.size > 0);
  return { domains: [...domains], fault };
}

function faultOf(fields: number, isReadable: boolean): AuthorFault | undefined {
  if (fields !== 1) return fields === 0 ? 'missing' : 'multiple';
  return isReadable ? undefined : 'malformed';
}

/** Invisible characters before the colon are ignored, as some programs do: for example a byte order mark before the first field. */
function isFrom({ name, raw }: HeaderLine): boolean {
  if (name !== '') return name === 'from';
  const colon = raw.slice(0, LONGEST_NAME).indexOf(':');
  return (
    colon > 0 &&
    raw
      .slice(0, colon)
      .replace(/[^!-~]/g, '')
      .toLowerCase() === 'from'
  );
}

/**
 * Returns true when every reader finds the same addresses in the field: each quote, comment and angle bracket is closed, and each mailbox
 * has one address. Unquoted display names with commas, colons and at signs are accepted, since many programs write them.
 */
function isUnambiguous(field: string): boolean {
  if (field.length > LONGEST_FIELD || field.includes(MARK)) return false;
  const angles: string[] = [];
  const rest = addressSkeleton(field).replace(ANGLE, (_, inner: string) => {
    angles.push(inner);
    return MARK;
  });
  if (/["(<>]/.test(rest) || !angles.every((inner) => IN_ANGLES.test(inner))) return false;
  return rest.split(/[,;:]/).every((item) => {
    const mark = item.indexOf(MARK);
    if (mark >= 0) return trimmedItem(item.slice(mark + 1)) === '';
    return item.split('@').length <= 2 && !trimmedItem(item).includes(DOUBTFUL);
  });
}
