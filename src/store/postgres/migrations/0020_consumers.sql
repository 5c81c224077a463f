-- Push subscriptions are durable consumers of their account's event log. `seq`: all changes up to this one are done; null in rows
-- of nodes of an earlier version: the subscription begins at the newest change.
alter table push_subscriptions
  add column seq bigint,
  add column retry_at timestamptz,
  add column failures integer not null default 0,
  add column failing_since timestamptz;
