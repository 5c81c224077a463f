// The words of emails in memory. No phrase reaches from one field into the next.
import { uuidOctets } from '../../../src/mail/ids.js';
import type { SearchTerm } from '../../../src/mail/search-text.js';
import type { EmailWords, SearchPart, SearchStore, WordCompletions } from '../../../src/store/search.js';
import { compare, type MemoryTables } from './tables.js';

export function memorySearch(tables: MemoryTables): SearchStore {
  return {
    async unindexed(accountIds, limit) {
      return accountIds.toSorted(compare).flatMap((accountId) => {
        const { emails, searchableUpTo } = tables.of(accountId);
        return [...emails.values()]
          .filter(({ id }) => id > searchableUpTo)
          .sort((a, b) => compare(a.id, b.id))
          .slice(0, limit)
          .map(({ id, blob, size, fromAddress, fromName, subject }) => {
            return { accountId, id, blob, size, fromAddress, fromName, subject };
          });
      });
    },
    // All that is in memory is of the present version.
    outdated: async () => [],
    outdatedAccounts: async () => [],
    async put(emails) {
      const gone = new Set<string>();
      for (const email of emails) {
        const account = tables.accounts.get(email.accountId);
        if (account === undefined) {
          gone.add(email.accountId);
          continue;
        }
        if (account.emails.has(email.id)) account.words.set(email.id, email);
        if (email.id > account.searchableUpTo) account.searchableUpTo = email.id;
      }
      return [...gone];
    },
    // Completions that lack a word find as little as they do in PostgreSQL.
    async matches(accountId, terms, part, after = '', completions?: WordCompletions) {
      const found = [...tables.of(accountId).words.values()].filter(
        (email) =>
          email.id > after &&
          terms.every((term) => {
            const [word = '', ...others] = term.words;
            const isCompleted =
              part === 'text' && term.prefix && others.length === 0 && email.id <= (completions?.upto ?? '');
            const completed = isCompleted ? completions?.words.get(word) : undefined;
            if (completed === undefined) return hasTerm(email, term, part);
            return completed.some((each) => hasTerm(email, { words: [each], prefix: false }, part));
          }),
      );
      return Buffer.concat(found.map(({ id }) => uuidOctets(id)));
    },
    async completions(accountId, beginning, known) {
      const [first = []] = [...tables.of(accountId).words.values()]
        .map(({ subject, sender, recipients, attachments, body }) =>
          [subject, sender, recipients, attachments, body].flat(),
        )
        .filter((words) => !words.some((word) => known.includes(word)))
        .map((words) => words.filter((word) => word.startsWith(beginning)))
        .filter(({ length }) => length > 0);
      return [...new Set(first)];
    },
  };
}

function hasTerm(
  { subject, sender, recipients, attachments, body }: EmailWords,
  { words, prefix }: SearchTerm,
  part: SearchPart,
): boolean {
  const last = words.length - 1;
  const isWord = (word: string | undefined, i: number) =>
    prefix && i === last ? word?.startsWith(words[i]!) === true : word === words[i];
  const fields = part === 'body' ? [attachments, body] : [subject, sender, recipients, attachments, body];
  return fields.some((field) => field.some((_, at) => words.every((_word, i) => isWord(field[at + i], i))));
}
