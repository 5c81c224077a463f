-- Adds what the page needs (decision 0087). A node of 0.2.0 neither reads nor writes these tables and this column, and deletes their rows with
-- an account.

-- A session is an API key in a table of its own: in `api_keys`, a node of 0.2.0 would list it among the keys of the account and count it.
create table sessions (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  prefix text not null unique,
  hash text not null,
  user_agent text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  -- Set when the session is ended before its time: nodes that were away learn of it.
  ended_at timestamptz
);
create index sessions_account on sessions (account_id);

-- Links for one sign-in. A link that is used is deleted.
create table sign_in_links (
  -- SHA-256 of the token, 64 hex digits.
  hash text primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  created_at timestamptz not null default now(),
  -- Null: the link is good until it is used.
  expires_at timestamptz
);
create index sign_in_links_account on sign_in_links (account_id);

-- Passkeys (WebAuthn).
create table passkeys (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  name text not null,
  -- The host for which the authenticator made it.
  rp_id text not null,
  credential_id bytea not null unique,
  -- COSE (RFC 9052).
  public_key bytea not null,
  -- The number of signatures that the authenticator has told last; 0 where it does not count.
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_account on passkeys (account_id);

-- Challenges that were answered rightly, until they are too old to be answered again. Others are not stored: their signature is checked.
create table spent_challenges (
  -- SHA-256 of the challenge, 64 hex digits.
  hash text primary key,
  expires_at timestamptz not null
);
create index spent_challenges_expiry on spent_challenges (expires_at);

-- The session whose end also ends the subscription; null for one that was made with an API key or a token, or by a node of 0.2.0.
alter table push_subscriptions add column session_id uuid;
