-- Nodes of the cluster, a row each while it lives and a while after. Leases are renewed every second: room on the page keeps
-- the updates within it.
create table nodes (
  id text primary key,
  incarnation text not null,
  version text not null,
  roles text[] not null,
  bus text not null,
  state text not null,
  started_at timestamptz not null,
  beat_at timestamptz not null,
  expires_at timestamptz not null
) with (fillfactor = 50);

alter table shard_leases set (fillfactor = 50);

-- Commands that were carried out, for as long as their asks may be sent again: a repeat gets the reply of the first time.
create table recent_commands (
  account_id uuid not null,
  id uuid not null,
  reply json not null,
  at timestamptz not null default now(),
  primary key (account_id, id)
);
create index recent_commands_at on recent_commands using brin (at);
