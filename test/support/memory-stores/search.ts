// The words of emails in memory. No phrase extends from one field into the next. Segments are only counted.
import { uuidOctets } from '../../../src/mail-format/ids.js';
import { hasTerm, type SearchTerm, textOfMailboxes } from '../../../src/mail-format/words/search-text.js';
import type { BlobStore } from '../../../src/store/blobs.js';
import type { SearchPart, SearchStore } from '../../../src/store/search.js';
import { type FieldWords, fieldWordsOf } from '../field-words.js';
import { compare, type MemoryTables } from './tables.js';

/** The number of segments of one level that are merged into one. */
const MERGED = 16;

export function memorySearch(tables: MemoryTables, blobs: Pick<BlobStore, 'index'>): SearchStore {
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
    async put(emails) {
      const gone = new Set<string>();
      const counts = new Map<string, number>();
      for (const email of emails) {
        const account = tables.accounts.get(email.accountId);
        if (account === undefined) {
          gone.add(email.accountId);
          continue;
        }
        counts.set(email.accountId, (counts.get(email.accountId) ?? 0) + 1);
        if (account.emails.has(email.id)) account.words.set(email.id, fieldWordsOf(email.texts));
        if (email.id > account.searchableUpTo) account.searchableUpTo = email.id;
      }
      for (const [accountId, count] of counts) tables.of(accountId).segments.push(count);
      return [...gone];
    },
    async matches(accountId, terms, part, after = '') {
      const { words, segments } = tables.of(accountId);
      const found = [...words].filter(([id, email]) => id > after && terms.every((term) => isFound(email, term, part)));
      return { ids: Buffer.concat(found.map(([id]) => uuidOctets(id))), segments: segments.length };
    },
    async fieldTexts(accountId, field, emailIds) {
      const found = new Map<string, string>();
      for (const id of emailIds) {
        const email = tables.of(accountId).emails.get(id);
        if (email === undefined) continue;
        if (field === 'from') found.set(id, `${email.fromName} ${email.fromAddress}`);
        else if (field === 'subject') found.set(id, email.subject);
        else found.set(id, textOfMailboxes((await blobs.index(email.blob))?.envelope[field] ?? []));
      }
      return found;
    },
    async merge(accountId, { live }) {
      const { segments, words } = tables.of(accountId);
      const all = live !== undefined && segments.reduce((sum, each) => sum + each, 0) > live * 1.25;
      const levels = segments.map((emails) => Math.floor(Math.log2(emails) / 4));
      const level = levels.find((each) => levels.filter((other) => other === each).length >= MERGED);
      const merged = all ? segments : segments.filter((_, i) => levels[i] === level).slice(0, MERGED);
      if (merged.length === 0) return { segments: 0, emails: 0, octets: 0, mayBeMore: false };
      const count = merged.length;
      const emails = all ? words.size : merged.reduce((sum, each) => sum + each, 0);
      for (const each of [...merged]) segments.splice(segments.indexOf(each), 1);
      if (emails > 0) segments.push(emails);
      return { segments: count, emails, octets: emails, mayBeMore: !all };
    },
    // Merges in memory are never interrupted.
    clear: async () => new Set(),
  };
}

function isFound(
  { subject, sender, recipients, attachments, body }: FieldWords,
  term: SearchTerm,
  part: SearchPart,
): boolean {
  const fields = part === 'body' ? [attachments, body] : [subject, sender, recipients, attachments, body];
  return fields.some((field) => hasTerm(field, term));
}
