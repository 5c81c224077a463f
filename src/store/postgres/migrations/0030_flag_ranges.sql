-- A change of many flags in one folder is committed as ranges of its UIDs (decision 0046). The ids follow: they are put into the
-- row of the log, and the range becomes an overlay, before any placement of the account goes, so the range still holds then.
-- Of `count` emails, in the order of their UIDs, whose ids begin at `first` (0-based) among those of the row.
create table flag_ranges (
  account_id uuid not null,
  seq bigint not null,
  first integer not null,
  count integer not null,
  flags smallint not null,
  folder_id uuid not null,
  first_uid bigint not null,
  last_uid bigint not null,
  primary key (account_id, seq, first)
);

-- Puts the ids of all ranges of an account into its log. The row has octets, but none, until then. Returns true.
create function expand_flag_ranges(account uuid) returns boolean language plpgsql as $$
declare
  range record;
  found_ids bytea;
  ids_of text;
begin
  if not exists (select from flag_ranges where account_id = account) then
    return true;
  end if;
  -- Rows are found by their keys, however small the tables were when a plan was made.
  perform set_config('enable_seqscan', 'off', true);
  for range in
    with gone as (delete from flag_ranges where account_id = account returning *) select * from gone order by seq, first
  loop
    -- The same messages are often marked and unmarked.
    if ids_of is distinct from concat_ws(' ', range.folder_id, range.first_uid, range.last_uid) then
      select coalesce(string_agg(uuid_send(p.email_id), ''::bytea order by p.uid), ''::bytea) into found_ids from placements p
      where p.account_id = account and p.folder_id = range.folder_id and p.uid between range.first_uid and range.last_uid;
      ids_of := concat_ws(' ', range.folder_id, range.first_uid, range.last_uid);
    end if;
    update events e set ids = e.ids || found_ids where e.account_id = account and e.seq = range.seq;
    if found then
      insert into flag_overlays (account_id, seq, first, count, flags)
      values (account, range.seq, range.first, range.count, range.flags);
    end if;
  end loop;
  return true;
end $$;

create function expand_claimed_flag_ranges() returns trigger language plpgsql as $$
begin
  perform expand_flag_ranges(new.id);
  return new;
end $$;
-- By its name the first one: flags of ranges are overlays when the trigger comes that writes overlays.
create trigger expand_flag_ranges before update of epoch on accounts
  for each row when (current_setting('mansio.reads_flag_ranges', true) is distinct from 'on')
  execute function expand_claimed_flag_ranges();

-- The run of the node that reads ranges. A node of the version before does not name its run here. Behind the lock on accounts, which
-- may be waited for: heartbeats are changes of nodes.
alter table nodes add column reads_flag_ranges text;

-- Nodes of the version before read ids. As long as one of them runs, and before one of them has an account, ranges have their ids.
create function expand_new_flag_ranges() returns trigger language plpgsql as $$
begin
  if exists (select from nodes where expires_at > now() and reads_flag_ranges is distinct from incarnation) then
    perform expand_flag_ranges(new.account_id);
  end if;
  return null;
end $$;
create trigger expand_new_flag_ranges after insert on flag_ranges
  for each row execute function expand_new_flag_ranges();

-- The heartbeats of all nodes wait for the row of a node that starts, so what takes longer is left to those who write the flags; so are
-- accounts that are locked, for who has locked one may wait for another one.
create function expand_all_flag_ranges() returns trigger language plpgsql as $$
declare
  account uuid;
  latest constant timestamptz := clock_timestamp() + interval '300 milliseconds';
begin
  for account in select distinct account_id from flag_ranges loop
    perform from accounts where id = account for no key update skip locked;
    if found then
      perform expand_flag_ranges(account);
    end if;
    exit when clock_timestamp() > latest;
  end loop;
  return null;
end $$;
create trigger expand_all_flag_ranges after insert or update of incarnation on nodes
  for each row when (new.reads_flag_ranges is distinct from new.incarnation)
  execute function expand_all_flag_ranges();
-- It was taken for dead.
create trigger expand_all_flag_ranges_again after update of expires_at on nodes
  for each row when (new.reads_flag_ranges is distinct from new.incarnation and new.incarnation = old.incarnation
    and old.expires_at <= now())
  execute function expand_all_flag_ranges();
