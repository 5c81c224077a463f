// The common bases of the junk filter in PostgreSQL (decision 0111). Unclaimed mailboxes teach nothing.
import { FEWEST_TEACHERS } from '../../../mail-format/junk/domain-words.js';
import type { JunkBaseStore } from '../../feedback/junk-bases.js';
import { guarded, type Sql } from '../driver/client.js';

/** The age at which a base is made again, and that at which an empty one is. */
const OLD = '1 day';
const OLD_EMPTY = '1 hour';

export function postgresJunkBases(sql: Sql): JunkBaseStore {
  return {
    async bases(domains) {
      const rows = await guarded(
        () => sql<{ domain: string; words: Uint8Array }[]>`
          select domain, words from junk_bases where domain = any(${domains as string[]}) and words <> ''`,
      );
      return new Map(rows.map(({ domain, words }) => [domain, words]));
    },
    async domainsDue(limit) {
      const rows = await guarded(
        () => sql<{ name: string }[]>`
          with taught as (
            select split_part(a.email, '@', 2) as domain from junk_words w join accounts a on a.id = w.account_id
            where not a.unclaimed and octet_length(w.words) > 0 group by 1 having count(*) >= ${FEWEST_TEACHERS}
          )
          select d.name from domains d left join junk_bases b on b.domain = d.name left join taught t on t.domain = d.name
          where case
            when b.domain is null then t.domain is not null
            when b.words = '' then t.domain is not null and b.made_at < now() - ${OLD_EMPTY}::interval
            else b.made_at < now() - ${OLD}::interval
          end
          order by b.made_at nulls first limit ${limit}`,
      );
      return rows.map(({ name }) => name);
    },
    async wordsOfDomain(domain, limit) {
      const rows = await guarded(
        () => sql<{ words: Uint8Array }[]>`
          with chosen as (
            select w.account_id from junk_words w join accounts a on a.id = w.account_id
            where split_part(a.email, '@', 2) = ${domain} and not a.unclaimed and octet_length(w.words) > 0
            order by random() limit ${limit}
          )
          select w.words from junk_words w join chosen using (account_id)`,
      );
      return rows.map(({ words }) => words);
    },
    async putBase(domain, words) {
      await guarded(
        () => sql`
          insert into junk_bases (domain, words)
          select name, ${(words ?? Buffer.of()) as Buffer}::bytea from domains where name = ${domain} for key share
          on conflict (domain) do update set words = excluded.words, made_at = excluded.made_at`,
      );
    },
  };
}
