-- Nodes of the version before read one UID a row. Before such a node has an account, each of its UIDs gets a row. Nodes that
-- read ranges say so with their claim, and then the function is not called.
create function split_expunged_uids() returns trigger language plpgsql as $$
begin
  insert into expunged (account_id, folder_id, uid, modseq)
    select account_id, folder_id, u.uid, modseq
    from expunged cross join generate_series(expunged.uid + 1, last_uid) as u (uid)
    where account_id = new.id and last_uid is not null
    on conflict do nothing;
  update expunged set last_uid = null where account_id = new.id and last_uid is not null;
  return new;
end $$;

-- Locks the accounts before the column below locks `expunged`, in the order of the commits of nodes that run meanwhile.
create trigger split_expunged_uids before update of epoch on accounts
  for each row when (current_setting('mansio.reads_uid_ranges', true) is distinct from 'on')
  execute function split_expunged_uids();

-- One row for UIDs that follow each other and left a folder together. `last_uid` is null where the row is about one UID.
alter table expunged add column last_uid bigint;
