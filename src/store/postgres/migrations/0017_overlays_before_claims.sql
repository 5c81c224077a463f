-- Nodes of the version before overlays read flags from `emails` alone, and write all flags of an email with any one of them.
-- Before such a node has an account, the flags of the account's overlays are written. Nodes that read overlays say so with their claim.
create function write_flag_overlays() returns trigger language plpgsql as $$
begin
  if current_setting('mansio.reads_overlays', true) is not distinct from 'on'
    or not exists (select from flag_overlays where account_id = new.id) then
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

create trigger write_flag_overlays before update of epoch on accounts
  for each row execute function write_flag_overlays();
