-- Keywords of overlays and ranges: all that each of the emails has; null where they keep those they have (decision 0046).
alter table flag_overlays add column keywords text[];
alter table flag_ranges add column keywords text[];

-- As before, with the keywords.
create or replace function expand_flag_ranges(account uuid) returns boolean language plpgsql as $$
declare
  range record;
  found_ids bytea;
  ids_of text;
begin
  if not exists (select from flag_ranges where account_id = account) then
    return true;
  end if;
  perform set_config('enable_seqscan', 'off', true);
  for range in
    with gone as (delete from flag_ranges where account_id = account returning *) select * from gone order by seq, first
  loop
    if ids_of is distinct from concat_ws(' ', range.folder_id, range.first_uid, range.last_uid) then
      select coalesce(string_agg(uuid_send(p.email_id), ''::bytea order by p.uid), ''::bytea) into found_ids from placements p
      where p.account_id = account and p.folder_id = range.folder_id and p.uid between range.first_uid and range.last_uid;
      ids_of := concat_ws(' ', range.folder_id, range.first_uid, range.last_uid);
    end if;
    update events e set ids = e.ids || found_ids where e.account_id = account and e.seq = range.seq;
    if found then
      insert into flag_overlays (account_id, seq, first, count, flags, keywords)
      values (account, range.seq, range.first, range.count, range.flags, range.keywords);
    end if;
  end loop;
  return true;
end $$;

-- As before, one overlay after the other: an older one may give keywords that a newer one keeps.
create or replace function write_flag_overlays() returns trigger language plpgsql as $$
declare
  overlay record;
begin
  if current_setting('mansio.reads_overlays', true) is not distinct from 'on' then
    return new;
  end if;
  for overlay in
    with gone as (delete from flag_overlays where account_id = new.id returning *) select * from gone order by seq, first desc
  loop
    with overlaid as materialized (
      select e.account_id, encode(substring(e.ids from i * 16 + 1 for 16), 'hex')::uuid as id
      from events e cross join lateral generate_series(overlay.first, overlay.first + overlay.count - 1) i
      where e.account_id = new.id and e.seq = overlay.seq
    )
    update emails t set flags = overlay.flags, keywords = coalesce(overlay.keywords, t.keywords), modseq = overlay.seq
    from overlaid o where t.account_id = o.account_id and t.id = o.id and t.modseq < overlay.seq;
  end loop;
  return new;
end $$;
