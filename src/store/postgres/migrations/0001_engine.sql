-- The engine's tables. Account-owned tables lead with account_id in every key, so that the schema can be distributed by
-- it. Directory tables (accounts, addresses, domains, api_keys), blobs and cluster tables are looked up by their own key.

create table settings (
  key text primary key,
  value text not null
);

create table shard_leases (
  shard integer primary key,
  node_id text,
  epoch bigint not null default 0,
  expires_at timestamptz not null default '-infinity'
);

create table domains (
  name text primary key,
  created_at timestamptz not null default now()
);

-- Updated by every commit: room on the page keeps the updates within it.
create table accounts (
  id uuid primary key,
  shard integer not null,
  email text not null unique,
  display_name text not null,
  -- A held mailbox has no login: it keeps mail of an unknown address until an account claims it.
  held boolean not null default false,
  epoch bigint not null default 0,
  modseq bigint not null default 1,
  created_at timestamptz not null default now()
) with (fillfactor = 60);
create index accounts_held on accounts (created_at) where held;

-- Anyone may ask for an address; the one account that has it verified gets its mail. An unverified row blocks nobody.
create table addresses (
  id uuid primary key,
  address text not null,
  account_id uuid not null references accounts (id) on delete cascade,
  domain text not null,
  held boolean not null default false,
  verified boolean not null,
  added_at timestamptz not null default now()
);
create unique index addresses_owner on addresses (address) where verified;
create unique index addresses_account on addresses (account_id, address);
create index addresses_held on addresses (domain) where held;

create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  name text not null,
  prefix text not null unique,
  hash text not null,
  scopes text[] not null,
  service_wide boolean not null default false,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_account on api_keys (account_id);

create table blobs (
  hash bytea primary key,
  size bigint not null,
  mime_index json not null,
  -- When the blob was last stored: collection spares it for a while after.
  stored_at timestamptz not null default now()
);

-- Chunks are cut so that one fits a page with its key: rows of a table cost less than the pieces of a TOAST table, and
-- mail does not compress.
create table blob_chunks (
  hash bytea not null,
  seq integer not null,
  data bytea not null,
  primary key (hash, seq)
);
alter table blob_chunks alter column data set storage plain;

-- Blobs that lost a reference; collection looks at these only. No primary key: adding must never wait or fail.
create table blob_candidates (
  hash bytea not null,
  at timestamptz not null default now()
);
create index blob_candidates_at on blob_candidates (at);

create table folders (
  account_id uuid not null,
  id uuid not null,
  role text not null check (role in ('inbox', 'sent', 'drafts', 'archive', 'trash', 'junk', 'label')),
  name text not null,
  color text,
  sort_order integer not null default 0,
  uidvalidity bigint not null,
  uidnext bigint not null default 1,
  total integer not null default 0,
  unread integer not null default 0,
  highest_modseq bigint not null default 1,
  created_at timestamptz not null default now(),
  primary key (account_id, id)
) with (fillfactor = 60);
create unique index folders_name on folders (account_id, lower(name));
create unique index folders_role on folders (account_id, role) where role <> 'label';

create table emails (
  account_id uuid not null,
  id uuid not null,
  blob bytea not null,
  message_id text,
  thread_id uuid not null,
  in_reply_to text,
  refs text[] not null,
  from_address text not null,
  from_name text not null,
  subject text not null,
  preview text not null,
  received_at timestamptz not null,
  size bigint not null,
  has_attachments boolean not null,
  attachment_count integer not null,
  flags smallint not null,
  keywords text[] not null default '{}',
  modseq bigint not null,
  primary key (account_id, id)
);
-- Asked by blob collection alone, across accounts.
create index emails_blob on emails using hash (blob);

create table placements (
  account_id uuid not null,
  folder_id uuid not null,
  uid bigint not null,
  email_id uuid not null,
  deleted boolean not null default false,
  modseq bigint not null,
  primary key (account_id, folder_id, uid)
);

create table expunged (
  account_id uuid not null,
  folder_id uuid not null,
  uid bigint not null,
  modseq bigint not null,
  primary key (account_id, folder_id, uid)
);

-- One row a change: its events in order, [{"type", "payload"}, …].
create table events (
  account_id uuid not null,
  seq bigint not null,
  entries json not null,
  at timestamptz not null,
  primary key (account_id, seq)
);
create index events_at on events using brin (at);

create table inbound (
  account_id uuid not null,
  id uuid not null,
  blob bytea not null,
  envelope json not null,
  at timestamptz not null default now(),
  primary key (account_id, id)
);
