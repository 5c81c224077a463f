-- Makes no unclaimed mailbox for an address that has become an alias since the recipient was accepted: the message is refused for now, and
-- the next attempt follows the alias. The function is that of 0001 otherwise, which says what it does.
create or replace function hold_addresses(
  wanted text[], domains text[], limits bigint[], account_ids uuid[], shards integer[], address_ids uuid[],
  folder_ids uuid[], roles text[], names text[]
) returns table (held_address text, held_account uuid) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  -- In one order, so that no two calls wait for each other.
  perform pg_advisory_xact_lock(k.key) from (
    select distinct hashtextextended('mansio addresses of ' || d, 0) as key from unnest(domains) d order by key
  ) k;
  return query
  with asked as (
    select distinct on (address) *
    from unnest(wanted, domains, limits, account_ids, shards, address_ids) with ordinality
      as w (address, domain, most, account_id, shard, address_id, n)
    order by address, n
  ), known as materialized (
    select w.address, a.account_id from asked w join addresses a on a.address = w.address and a.verified
  ), free as materialized (
    select w.*, row_number() over (partition by w.domain order by w.n) as place
    from asked w where not exists (select from known k where k.address = w.address)
      and not exists (select from aliases l where l.address in (w.address, '*@' || w.domain))
      and not exists (select from domain_aliases l where l.name = w.domain)
  ), counted as materialized (
    select d.domain, (select count(*) from addresses a where a.domain = d.domain and a.unclaimed) as unclaimed
    from (select distinct domain from free) d
  ), admitted as materialized (
    select f.* from free f join counted c using (domain) where c.unclaimed + f.place <= f.most
  ), account as (
    insert into accounts (id, shard, email, display_name, unclaimed) select account_id, shard, address, '', true from admitted
  ), address as (
    insert into addresses (id, address, account_id, domain, unclaimed, verified)
    select address_id, address, account_id, domain, true, true from admitted
  ), folder as (
    insert into folders (account_id, id, role, name, sort_order, uidvalidity)
    select a.account_id, folder_ids[(a.n - 1) * cardinality(roles) + f.position], f.role, f.name, f.position,
      extract(epoch from now())::bigint
    from admitted a, unnest(roles, names) with ordinality as f (role, name, position)
  )
  select address, account_id from known union all select address, account_id from admitted;
end $$;
