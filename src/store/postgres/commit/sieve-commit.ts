// Sieve scripts in PostgreSQL, and the keys that they track: the part of the mailbox commit that writes them, and their reading. Most
// commits have none.
import { coalesce } from '../../changes/coalesced-changes.js';
import type { MailboxChange } from '../../mailboxes.js';
import type { Pieces } from '../driver/statement-pieces.js';

/** Returns the last parts of the commit's `with`, whose `passed` has the accounts that passed the fence. */
export function writeSieve(sql: Pieces, changes: readonly MailboxChange[]) {
  const scripts = [];
  const gone = [];
  const active = [];
  const tracked = [];
  const untracked = [];
  for (const { accountId: a, changes: list } of changes) {
    const { sieve } = coalesce(list);
    if (sieve === undefined) continue;
    for (const { name, content } of sieve.scripts) scripts.push({ a, name, content });
    for (const name of sieve.removed) gone.push({ a, name });
    if (sieve.active !== undefined) active.push({ a, name: sieve.active });
    for (const { key, until } of sieve.tracked) tracked.push({ a, key, until });
    for (const key of sieve.untracked) untracked.push({ a, key });
  }
  const keys = tracked.length + untracked.length === 0 ? sql`` : writeKeys(sql, tracked, untracked);
  if (scripts.length + gone.length + active.length === 0) return keys;
  return sql`
    ${keys}, sieve_script as (
      insert into sieve_scripts (account_id, name, content)
      select a, name, content from json_to_recordset(${JSON.stringify(scripts)}::json) as x (a uuid, name text, content text)
      join passed using (a)
      on conflict (account_id, name) do update set content = excluded.content
    ), sieve_script_removed as (
      delete from sieve_scripts t
      using json_to_recordset(${JSON.stringify(gone)}::json) as r (a uuid, name text), passed p
      where t.account_id = r.a and t.name = r.name and p.a = r.a
    ), sieve_choice as materialized (
      select a, name from json_to_recordset(${JSON.stringify(active)}::json) as x (a uuid, name text) join passed using (a)
    ), sieve_activated as (
      insert into active_sieve_scripts (account_id, name) select a, name from sieve_choice where name is not null
      on conflict (account_id) do update set name = excluded.name
    ), sieve_deactivated as (
      delete from active_sieve_scripts t using sieve_choice r where t.account_id = r.a and r.name is null
    )`;
}

function writeKeys(sql: Pieces, tracked: readonly object[], untracked: readonly object[]) {
  return sql`
    , sieve_key_tracked as (
      insert into sieve_tracked_keys (account_id, key, until)
      select a, key, to_timestamp(until / 1000.0) from json_to_recordset(${JSON.stringify(tracked)}::json)
        as x (a uuid, key text, until float8) join passed using (a)
      on conflict (account_id, key) do update set until = excluded.until
    ), sieve_key_untracked as (
      delete from sieve_tracked_keys t
      using json_to_recordset(${JSON.stringify(untracked)}::json) as g (a uuid, key text), passed p
      where p.a = g.a and t.account_id = g.a and t.key = g.key
    )`;
}

/** The keys that scripts of `accounts a` track; the one that ends first comes first. */
export const SIEVE_KEYS_OF_ACCOUNT = `
  select key, round(extract(epoch from until) * 1000)::float8 as until from sieve_tracked_keys where account_id = a.id
  order by sieve_tracked_keys.until, key`;

/** The scripts of `accounts a`. */
export const SIEVE_SCRIPTS_OF_ACCOUNT = 'select name, content from sieve_scripts where account_id = a.id order by name';

/** The name of the active script of `accounts a`. */
export const ACTIVE_SIEVE_SCRIPT = '(select name from active_sieve_scripts where account_id = a.id)';
