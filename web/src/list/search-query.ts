// Searches as people type them: words and phrases, and operators such as from:ann, has:attachment, before:2026-12-01, in:archive, is:unread.
// A word that only looks like an operator stays a word. Names after from: and to: are words as well: the service finds words in senders and
// recipients, and in what an email says.

export interface SearchQuery {
  /** Words and phrases, as the server takes them. */
  readonly q: string;
  readonly hasAttachments?: true;
  /** ISO 8601 dates; both days are included. */
  readonly fromDate?: string;
  readonly toDate?: string;
  readonly isRead?: boolean;
  readonly isFlagged?: true;
  /** The id or role of a folder or label. */
  readonly folder?: string;
}

/** A folder or label that `in:` can name. */
export interface Searchable {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

type Criterion = Omit<SearchQuery, 'q'>;

/** An operator with or without quotes around its value, a phrase, or a word. */
const PART = /(\w+):"([^"]*)"?|(\w+):([^\s"]+)|"[^"]*"?|\S+/g;
const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const DAY_MS = 86_400_000;

export function parseSearch(text: string, folders: readonly Searchable[]): SearchQuery {
  const words: string[] = [];
  let query: Criterion = {};
  for (const [part, quotedName, quotedValue, name = quotedName, value = quotedValue] of text.matchAll(PART)) {
    const found = name && value ? operator(name.toLowerCase(), value, folders) : undefined;
    if (found === undefined) words.push(part);
    else if ('word' in found) words.push(found.word);
    else query = { ...query, ...found };
  }
  return { q: words.join(' '), ...query };
}

function operator(
  name: string,
  value: string,
  folders: readonly Searchable[],
): Criterion | { readonly word: string } | undefined {
  switch (name) {
    case 'from':
    case 'to':
      return { word: /\s/.test(value) ? `"${value}"` : value };
    case 'has':
      return value.toLowerCase().startsWith('attachment') ? { hasAttachments: true } : undefined;
    case 'after':
      return day(value, 0, (fromDate) => ({ fromDate }));
    case 'before':
      return day(value, -1, (toDate) => ({ toDate }));
    case 'is':
      return state(value.toLowerCase());
    case 'in':
      return inFolder(value.toLowerCase(), folders);
    default:
      return undefined;
  }
}

function state(value: string): Criterion | undefined {
  if (value === 'unread') return { isRead: false };
  if (value === 'read') return { isRead: true };
  return value === 'flagged' || value === 'starred' ? { isFlagged: true } : undefined;
}

/** The day that is `days` after the one that is named. */
function day<T>(value: string, days: number, of: (date: string) => T): T | undefined {
  const [, year, month, date] = DATE.exec(value.replaceAll('/', '-')) ?? [];
  if (year === undefined) return undefined;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(date));
  const named = new Date(ms);
  if (named.getUTCMonth() !== Number(month) - 1) return undefined;
  return of(new Date(ms + days * DAY_MS).toISOString().slice(0, 10));
}

function inFolder(value: string, folders: readonly Searchable[]): Criterion | undefined {
  const found = folders.find(({ id, name, role }) => {
    const isOwn = role === 'label' || role === 'folder';
    return id === value || (isOwn ? name.toLowerCase() === value : role === value || name.toLowerCase() === value);
  });
  return found && { folder: found.role === 'label' || found.role === 'folder' ? found.id : found.role };
}
