-- Webhooks are durable consumers of their account's event log: URLs that get its events. The last columns are those of push
-- subscriptions (0020_consumers).
create table webhooks (
  account_id uuid not null,
  id uuid not null,
  url text not null,
  -- Empty: all events.
  event_types text[] not null,
  is_enabled boolean not null,
  -- Why the server disabled the webhook; null for one that is enabled, or that the account disabled.
  disabled_reason text,
  secret text not null,
  -- The secret before the last rotation, which signs too for a while.
  former_secret text,
  former_secret_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Of the change after `seq`: its events up to this one are done.
  within_seq bigint,
  within_n integer,
  within_k integer,
  seq bigint,
  retry_at timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  primary key (account_id, id)
);

-- Attempts to deliver, the newest of each webhook.
create table webhook_deliveries (
  account_id uuid not null,
  webhook_id uuid not null,
  -- In order of time.
  id uuid not null,
  event_id text not null,
  event_type text not null,
  at timestamptz not null,
  attempt integer not null,
  is_delivered boolean not null,
  -- Null without an answer.
  response_status integer,
  duration_ms integer not null,
  -- Why the event was not delivered.
  error text,
  primary key (account_id, webhook_id, id)
);
