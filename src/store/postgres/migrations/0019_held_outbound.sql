-- Emails that are queued and not due before a time: they can be undone, or are sent later. Nodes of an earlier version do not
-- know the column: they see an email that is never due. When such a node makes one due, it leaves the time as it is; so the time
-- counts only while nothing else is due.
alter table outbound add column held_until timestamptz;
-- Read across accounts, by shard. Empty but for emails that are held.
create index outbound_held on outbound (shard, held_until)
  where status = 'Queued' and next_retry_at is null and held_until is not null;
