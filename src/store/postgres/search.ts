// The words of emails in PostgreSQL: one tsvector an email under a GIN index.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchTerm } from '../../mail/search-text.js';
import type { EmailWords, SearchPart, SearchStore, UnindexedEmail, WordCompletions } from '../search.js';
import { BinaryArray } from './binary-array.js';
import { type Fragment, type Sql, storeFault } from './client.js';
import { fieldsOf, incompleteTsquery, lexemesOf, Tsvectors, tsqueryOf } from './search-words.js';
import { phraseOrder, wordOrder } from './word-order.js';

/** Words of bodies that are written in one turn of the event loop: a millisecond of work. */
const WORDS_A_TURN = 2_500;
/** Emails whose words are read at a time for completions. */
const EMAILS_OF_COMPLETIONS = 20;
/** Type of elements of an array. */
const BYTEA = 17;

/** `sql`: a pool made `byKey`: words are found through the index, never row by row. */
export function postgresSearch(sql: Sql): SearchStore {
  async function unindexed(accountIds: readonly string[], limit: number): Promise<readonly UnindexedEmail[]> {
    try {
      return await sql<UnindexedEmail[]>`
        select x.* from unnest(${accountIds as string[]}::uuid[]) a (id) cross join lateral (
          select account_id as "accountId", id, encode(blob, 'hex') as blob, size::float8 as size, from_address as "fromAddress",
            from_name as "fromName", subject
          from emails where account_id = a.id and id > coalesce(
            (select upto from search_state where account_id = a.id), '00000000-0000-0000-0000-000000000000')
          order by id limit ${limit}) x
        order by x."accountId", x.id`;
    } catch (error) {
      throw storeFault(error);
    }
  }

  // The statements write the version as a literal, like the condition of their index. An email that is removed while it is
  // indexed leaves rows behind: they are deleted here.
  async function outdated(accountId: string, limit: number): Promise<readonly UnindexedEmail[]> {
    try {
      return await sql<UnindexedEmail[]>`
        with old as materialized (
          select email_id from email_search where account_id = ${accountId} and version < 2 order by email_id limit ${limit}
        ), orphan as (
          delete from email_search s using old o where s.account_id = ${accountId} and s.email_id = o.email_id
            and not exists (select 1 from emails e where e.account_id = ${accountId} and e.id = o.email_id)
        )
        select account_id as "accountId", id, encode(blob, 'hex') as blob, size::float8 as size, from_address as "fromAddress",
          from_name as "fromName", subject
        from old o join emails e on e.account_id = ${accountId} and e.id = o.email_id order by id`;
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function outdatedAccounts(after: string, limit: number): Promise<readonly string[]> {
    try {
      // One scan of the index an account, however many rows each has.
      const rows = await sql<{ id: string }[]>`
        with recursive found as (
          (select account_id as id, 1 as n from email_search where version < 2 and account_id > ${after}
           order by account_id limit 1)
          union all
          select next.id, found.n + 1 from found cross join lateral (
            select account_id as id from email_search where version < 2 and account_id > found.id
            order by account_id limit 1) next
          where found.n < ${limit}
        )
        select id from found`;
      return rows.map(({ id }) => id);
    } catch (error) {
      throw storeFault(error);
    }
  }

  // The rows of accounts are locked so that nothing is left behind of an account that is being deleted. A deletion locks the row
  // first, and may take long: the accounts beside it do not wait.
  async function put(emails: readonly EmailWords[]): Promise<readonly string[]> {
    if (emails.length === 0) return [];
    const last = new Map(emails.map(({ accountId, id }) => [accountId, id]));
    const accountIds = [...last.keys()].sort();
    const states = accountIds.map((account) => ({ account, upto: last.get(account) }));
    const words = new Tsvectors();
    const orders = new BinaryArray(BYTEA);
    let written = 0;
    for (const email of emails) {
      words.add(email.accountId, email);
      const order = wordOrder(fieldsOf(email));
      if (order === undefined) orders.addNull();
      else orders.addOctets(order);
      written += email.body.length;
      if (written < WORDS_A_TURN) continue;
      written = 0;
      await nextTurn();
    }
    try {
      const stored = await sql<{ id: string }[]>`
        with account as materialized (
          select id from accounts where id = any(${accountIds}::uuid[]) order by id for key share skip locked
        ), present as materialized (
          select array_agg(id) as ids from account
        ), added as (
          insert into email_search (account_id, email_id, words, word_order, version)
          select account, id, words, "order", 2 from unnest(
            ${emails.map(({ accountId }) => accountId)}::uuid[], ${emails.map(({ id }) => id)}::uuid[],
            ${words.octets()}::tsvector[], ${orders.octets()}::bytea[]) as x (account, id, words, "order")
          -- One look-up an email: as a join, planned while the table was small, it reads every id of each account.
          where account = any((select ids from present)::uuid[])
            and (select true from emails e where e.account_id = x.account and e.id = x.id)
          on conflict (account_id, email_id) do update
            set words = excluded.words, word_order = excluded.word_order, version = excluded.version
          where email_search.version < excluded.version
        )
        insert into search_state (account_id, upto)
        select account, upto from json_to_recordset(${JSON.stringify(states)}::text::json) as x (account uuid, upto uuid)
        where account = any((select ids from present)::uuid[])
        on conflict (account_id) do update set upto = greatest(search_state.upto, excluded.upto)
        returning account_id as id`;
      if (stored.length === accountIds.length) return [];
      const present = new Set(stored.map(({ id }) => id));
      return accountIds.filter((id) => !present.has(id));
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function matches(
    accountId: string,
    terms: readonly SearchTerm[],
    part: SearchPart,
    after?: string,
    completions?: WordCompletions,
  ): Promise<Uint8Array> {
    // Each condition in a form that the index which must not be taken does not have.
    const oneByOne = (first: string) => sql`account_id = ${accountId} and email_id > ${first}
      and ts_match_vq(words, ${tsqueryOf(accountId, terms, part)}::tsquery)`;
    const throughIndex = sql`${found(accountId, terms, part, completions?.words)}
      and account_id is not distinct from ${accountId}::uuid`;
    const emails =
      after !== undefined
        ? sql`select email_id from email_search where ${oneByOne(after)}`
        : completions === undefined
          ? sql`select email_id from email_search where ${throughIndex}`
          : sql`select email_id from email_search where ${throughIndex} and uuid_le(email_id, ${completions.upto}::uuid)
              union all select email_id from email_search where ${oneByOne(completions.upto)}`;
    const rows = sql<{ packed: Uint8Array | null }[]>`
      select string_agg(uuid_send(email_id), ''::bytea) as packed from (${emails}) email`;
    try {
      return (await rows)[0]?.packed ?? new Uint8Array(0);
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function completions(
    accountId: string,
    beginning: string,
    known: readonly string[],
  ): Promise<readonly string[]> {
    const { start, keyLength } = lexemesOf(accountId, beginning);
    try {
      const rows = await sql<{ word: string }[]>`
        select distinct substr(lexeme, ${keyLength + 1}::int) as word from (
          select words from email_search where words @@ ${incompleteTsquery(accountId, beginning, known)}::tsquery
            and account_id is not distinct from ${accountId}::uuid limit ${EMAILS_OF_COMPLETIONS}
        ) email cross join lateral unnest(words) where starts_with(lexeme, ${start})`;
      return rows.map(({ word }) => word);
    } catch (error) {
      throw storeFault(error);
    }
  }

  /** Through the index of words. */
  function found(
    accountId: string,
    terms: readonly SearchTerm[],
    part: SearchPart,
    completed?: WordCompletions['words'],
  ): Fragment {
    const query = tsqueryOf(accountId, terms, part, completed);
    // Words that are the start of a word have no place in the order.
    const phrases = terms
      .map(({ words, prefix }) => (prefix ? words.slice(0, -1) : words))
      .filter(({ length }) => length > 1);
    if (phrases.length === 0) return sql`words @@ ${query}::tsquery`;
    // The index tells which emails have the words, their order which of them may have the phrases.
    const inOrder = phrases.map((words) => sql`and position(${phraseOrder(words)}::bytea in word_order) > 0`);
    return sql`words @@ ${tsqueryOf(accountId, singleWords(terms), 'text', completed)}::tsquery
      and case when word_order is null or true ${inOrder} then ts_match_vq(words, ${query}::tsquery) else false end`;
  }

  return { unindexed, outdated, outdatedAccounts, put, matches, completions };
}

/** The words of the terms, wherever they stand. */
function singleWords(terms: readonly SearchTerm[]): SearchTerm[] {
  return terms.flatMap(({ words, prefix }) =>
    words.map((word, i) => ({ words: [word], prefix: prefix && i === words.length - 1 })),
  );
}
