-- Adds limits of recipients, and the suspension of sending (decision 0102). A node of 0.2.0 neither counts recipients nor knows that an
-- account is suspended, and deletes the rows with an account.

alter table accounts
  -- Recipients in a rolling hour and day. Null: the default of the settings. 0: no limit.
  add column limit_hour integer,
  add column limit_day integer,
  -- When the user and the operator were told last that the account has reached the limit.
  add column limit_hour_noticed_at timestamptz,
  add column limit_day_noticed_at timestamptz,
  -- Set while sending is suspended; the three columns are set together.
  add column suspended_at timestamptz,
  add column suspended_by text check (suspended_by in ('operator', 'server')),
  add column suspended_reason text,
  -- The end of the last suspension.
  add column resumed_at timestamptz;
create index accounts_suspended on accounts (id) where suspended_at is not null;

alter table domains
  add column limit_hour integer,
  add column limit_day integer,
  add column limit_hour_noticed_at timestamptz,
  add column limit_day_noticed_at timestamptz;

-- What the mailbox of an account has counted in a minute. Rows are deleted when they are older than a day.
create table sent_counts (
  account_id uuid not null references accounts (id) on delete cascade,
  -- Minutes since 1970.
  minute integer not null,
  recipients integer not null,
  -- Recipients to whom the account had never written before.
  strangers integer not null,
  -- Recipients that other servers have refused for good.
  refused integer not null,
  primary key (account_id, minute)
);
create index sent_counts_minute on sent_counts (minute);

-- The addresses, in canonical form, to which an account has written.
create table known_recipients (
  account_id uuid not null references accounts (id) on delete cascade,
  address text not null,
  primary key (account_id, address)
);

-- How the browser has signed in: null for an API key, and for a node of the version before.
alter table sessions add column proof text check (proof in ('passkey', 'login', 'link'));
