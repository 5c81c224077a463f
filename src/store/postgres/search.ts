// The words of emails in PostgreSQL: one tsvector an email under a GIN index.
import type { SearchTerm } from '../../mail/search-text.js';
import type { EmailWords, SearchStore, UnindexedEmail } from '../search.js';
import { type Sql, storeFault } from './client.js';
import { tsqueryOf, tsvectorOf } from './search-words.js';

/** `sql`: a pool made `byKey`: words in the index are found, never looked for row by row. */
export function postgresSearch(sql: Sql): SearchStore {
  async function unindexed(accountId: string, limit: number): Promise<readonly UnindexedEmail[]> {
    try {
      return await sql<UnindexedEmail[]>`
        select id, encode(blob, 'hex') as blob, from_address as "fromAddress", from_name as "fromName", subject
        from emails where account_id = ${accountId} and id > coalesce(
          (select upto from search_state where account_id = ${accountId}), '00000000-0000-0000-0000-000000000000')
        order by id limit ${limit}`;
    } catch (error) {
      throw storeFault(error);
    }
  }

  // The account's row is held so that nothing is left behind of an account that is being deleted.
  async function put(accountId: string, emails: readonly EmailWords[]): Promise<void> {
    const last = emails.at(-1)?.id;
    if (last === undefined) return;
    const rows = emails.map((email) => ({ id: email.id, words: tsvectorOf(accountId, email) }));
    try {
      await sql`
        with account as materialized (
          select id from accounts where id = ${accountId} for key share
        ), added as (
          insert into email_search (account_id, email_id, words)
          select a.id, x.id, x.words
          from account a, json_to_recordset(${JSON.stringify(rows)}::text::json) as x (id uuid, words tsvector)
          where exists (select 1 from emails e where e.account_id = a.id and e.id = x.id)
          on conflict do nothing
        )
        insert into search_state (account_id, upto) select id, ${last} from account
        on conflict (account_id) do update set upto = greatest(search_state.upto, excluded.upto)`;
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function matches(accountId: string, terms: readonly SearchTerm[], after?: string): Promise<Uint8Array> {
    const query = tsqueryOf(accountId, terms);
    // Each condition in the form that the one index it must not take does not know.
    const rows = sql<{ packed: Uint8Array | null }[]>`
      select string_agg(uuid_send(email_id), ''::bytea) as packed from email_search where ${
        after === undefined
          ? sql`words @@ ${query}::tsquery and account_id is not distinct from ${accountId}::uuid`
          : sql`account_id = ${accountId} and email_id > ${after} and ts_match_vq(words, ${query}::tsquery)`
      }`;
    try {
      return (await rows)[0]?.packed ?? new Uint8Array(0);
    } catch (error) {
      throw storeFault(error);
    }
  }

  return { unindexed, put, matches };
}
