// The envelope of a message or of an embedded one (RFC 5322 §3.6), read from its header fields: addresses, subject, date and ids, decoded
// and capped. If a field that may occur once is repeated, the first one counts; destination fields are combined.
import type { IndexedAddress, IndexedEnvelope } from '../message-index.js';
import { addressList } from './address-list.js';
import type { HeaderFields } from './header-fields.js';
import { clean, type WordDecoder } from './header-text.js';
import type { MimeLimits, Truncation } from './limits.js';

const MESSAGE_ID = /<[^<>\s]{1,990}>/;
/** RFC 5322 §4.5.4: obsolete syntax allows white space and comments around the at sign and the dots. */
const SPACED_ID = /<[^<>@]{1,900}@[^<>@]{1,900}>/;
const LONGEST_ID = 2000;
const MESSAGE_IDS = /<[^<>\s]{1,990}>/g;

export class EnvelopeReader {
  readonly #limits: MimeLimits;
  readonly #words: WordDecoder;
  readonly #truncated: Set<Truncation>;

  constructor(limits: MimeLimits, words: WordDecoder, truncated: Set<Truncation>) {
    this.#limits = limits;
    this.#words = words;
    this.#truncated = truncated;
  }

  read(fields: HeaderFields): IndexedEnvelope {
    const date = fields.first('date');
    return {
      date: date === undefined ? null : clean(date.slice(0, 256)) || null,
      sentAt: date === undefined ? null : sentAt(date),
      subject: this.#words.text(fields.first('subject') ?? ''),
      from: this.#addresses(fields, 'from', 1),
      sender: this.#addresses(fields, 'sender', 1),
      replyTo: this.#addresses(fields, 'reply-to', 1),
      to: this.#addresses(fields, 'to'),
      cc: this.#addresses(fields, 'cc'),
      bcc: this.#addresses(fields, 'bcc'),
      messageId: messageId(fields.first('message-id')),
      inReplyTo: messageId(fields.first('in-reply-to')),
      references: this.#references(fields),
    };
  }

  #addresses(fields: HeaderFields, name: string, repeats = Number.POSITIVE_INFINITY): readonly IndexedAddress[] {
    const values = fields.all(name);
    if (values.length === 0) return [];
    const found: IndexedAddress[] = [];
    for (const value of values.slice(0, repeats)) {
      const list = addressList(value, this.#limits.addresses - found.length, this.#words);
      for (const address of list.addresses) found.push(address);
      if (list.truncated) {
        this.#truncated.add('addresses');
        break;
      }
    }
    return found;
  }

  #references(fields: HeaderFields): readonly string[] {
    const ids = fields.first('references')?.match(MESSAGE_IDS)?.map(clean) ?? [];
    const most = this.#limits.references;
    // The first id is the start of the thread, the last ones are the nearest ancestors.
    return ids.length <= most ? ids : [ids[0]!, ...ids.slice(1 - most)];
  }
}

/** Returns a msg-id in angle brackets, which are added to a bare `left@right`, as some senders write it. */
function messageId(field: string | undefined): string | null {
  if (field === undefined) return null;
  const id = MESSAGE_ID.exec(field)?.[0];
  if (id !== undefined) return clean(id);
  const spaced = SPACED_ID.exec(field.slice(0, LONGEST_ID))?.[0];
  if (spaced !== undefined) return clean(spaced.replace(/\((?:[^()\\]|\\.)*\)|\s+/g, ''));
  const bare = /^[^\s<>@]{1,400}@[^\s<>@]{1,400}/.exec(field)?.[0];
  return bare === undefined ? null : `<${clean(bare)}>`;
}

/** Matches `21 Nov 2026 13:10`, `Nov 21 13:10:19 2026` and `2026-11-21`: for other texts `Date.parse` guesses. */
const DATE = /\d{1,2}[\s-]+[a-z]{3,9}[\s-]+\d{2,4}\s+\d|[a-z]{3}\s+\d{1,2}\s+\d\d?:\d\d|\d{4}-\d\d-\d\d/i;

/** Reads RFC 5322 §3.3 dates, and similar ones that `Date.parse` reads; a date without a zone is in UTC. */
export function sentAt(field: string): number | null {
  const date = field
    .slice(0, 128)
    .replace(/\([^()]*\)/g, ' ')
    .replace(/\s*:\s*/g, ':')
    .trim();
  if (!DATE.test(date)) return null;
  const zoned = /[+-]\d\d:?\d\d$|[a-z]$/i.test(date) ? date : `${date} +0000`;
  const ms = Date.parse(zoned);
  return Number.isNaN(ms) ? null : ms;
}
