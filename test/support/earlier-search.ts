// The index of words as nodes of the versions before segments write it: a tsvector an email, and how far an account is searchable.
import type { Sql } from '../../src/store/postgres/client.js';
import { phraseOrder } from '../../src/store/postgres/earlier-search.js';
import type { IndexedEmail } from '../../src/store/search.js';
import { type FieldWords, fieldWordsOf } from './field-words.js';

const GAP = 10;

/** Of accounts' next emails, in order. */
export async function putEarlier(sql: Sql, emails: readonly IndexedEmail[]): Promise<void> {
  for (const email of emails) {
    const { accountId, id } = email;
    const words = fieldWordsOf(email.texts);
    await sql`
      insert into email_search (account_id, email_id, words, word_order, version)
      values (${accountId}, ${id}, ${tsvectorOf(accountId, words)}::text::tsvector, ${wordOrderOf(words)}, 2)
      on conflict (account_id, email_id) do nothing`;
    await sql`
      insert into search_state (account_id, upto) values (${accountId}, ${id})
      on conflict (account_id) do update set upto = greatest(search_state.upto, excluded.upto)`;
  }
}

/** Ids of the emails that such a node takes for not yet searchable. */
export async function unindexedEarlier(sql: Sql, accountId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from emails where account_id = ${accountId} and id > coalesce(
      (select upto from search_state where account_id = ${accountId}), '00000000-0000-0000-0000-000000000000') order by id`;
  return rows.map(({ id }) => id);
}

/** Ids of the emails that such a node finds to have the word. */
export async function foundEarlier(sql: Sql, accountId: string, word: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select email_id as id from email_search
    where account_id = ${accountId} and words @@ ${`'${accountId.slice(-7)}${word}'`}::text::tsquery order by id`;
  return rows.map(({ id }) => id);
}

function fieldsOf({ subject, sender, recipients, attachments, body }: FieldWords) {
  return [
    [subject, 'A'],
    [sender, 'B'],
    [recipients, 'B'],
    [attachments, 'C'],
    [body, 'C'],
  ] as const;
}

function tsvectorOf(accountId: string, email: FieldWords): string {
  const places = new Map<string, string[]>();
  let position = 0;
  for (const [words, weight] of fieldsOf(email)) {
    for (const word of words) {
      position++;
      const known = places.get(word) ?? [];
      if (known.length < 255) places.set(word, [...known, `${position}${weight}`]);
    }
    position += GAP;
  }
  return [...places].map(([word, at]) => `'${accountId.slice(-7)}${word}':${at.join(',')}`).join(' ');
}

/** None of an email of many words. */
function wordOrderOf(email: FieldWords): Uint8Array | null {
  const order = fieldsOf(email).flatMap(([words]) => [...phraseOrder(words), 0]);
  return order.length > 512 ? null : Buffer.from(order);
}
