-- Makes accounts without a login for addresses that nobody has, as far as their domains have fewer held addresses than the limit of each
-- allows, and names the account of every address that has one then. A function, because what is read after the locks were
-- taken must be newer than what a single statement would see. Rows are found by their keys, however small the tables were when the
-- function was planned. `folder_ids`: as many an address as there are roles.
create function hold_addresses(
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
  ), counted as materialized (
    select d.domain, (select count(*) from addresses a where a.domain = d.domain and a.held) as held
    from (select distinct domain from free) d
  ), admitted as materialized (
    select f.* from free f join counted c using (domain) where c.held + f.place <= f.most
  ), account as (
    insert into accounts (id, shard, email, display_name, held) select account_id, shard, address, '', true from admitted
  ), address as (
    insert into addresses (id, address, account_id, domain, held, verified)
    select address_id, address, account_id, domain, true, true from admitted
  ), folder as (
    insert into folders (account_id, id, role, name, sort_order, uidvalidity)
    select a.account_id, folder_ids[(a.n - 1) * cardinality(roles) + f.position], f.role, f.name, f.position,
      extract(epoch from now())::bigint
    from admitted a, unnest(roles, names) with ordinality as f (role, name, position)
  )
  select address, account_id from known union all select address, account_id from admitted;
end $$;

-- As before (0017), with the usual case first: an expression that reads a table costs each claim of an account a statement.
create or replace function write_flag_overlays() returns trigger language plpgsql as $$
begin
  if current_setting('mansio.reads_overlays', true) is not distinct from 'on' then
    return new;
  end if;
  if not exists (select from flag_overlays where account_id = new.id) then
    return new;
  end if;
  -- Rows of their own, with their account: emails are found by their whole key then.
  with overlaid as materialized (
    select distinct on (id) f.account_id, encode(substring(e.ids from i * 16 + 1 for 16), 'hex')::uuid as id, f.seq, f.flags
    from flag_overlays f
      join events e on e.account_id = f.account_id and e.seq = f.seq
      cross join lateral generate_series(f.first, f.first + f.count - 1) i
    where f.account_id = new.id
    order by id, f.seq desc, f.first desc
  )
  update emails t set flags = o.flags, modseq = o.seq from overlaid o
  where t.account_id = o.account_id and t.id = o.id and t.modseq < o.seq;
  delete from flag_overlays where account_id = new.id;
  return new;
end $$;
