-- What accounts teach the junk filter (decision 0106): their moves to and from Junk that are not learnt yet, one row for each email. A node
-- of the version before writes none.
create table due_junk_lessons (
  account_id uuid not null references accounts (id) on delete cascade,
  email_id uuid not null,
  is_junk boolean not null,
  primary key (account_id, email_id)
);

-- The messages that an account has taught. `message`: the first 16 octets of the SHA-256 of the message.
create table junk_lessons (
  account_id uuid not null references accounts (id) on delete cascade,
  message bytea not null,
  is_junk boolean not null,
  learnt_at timestamptz not null default now(),
  primary key (account_id, message)
);

-- What an account has learnt, packed (src/mail-format/junk/stored-words.ts).
create table junk_words (
  account_id uuid primary key references accounts (id) on delete cascade,
  words bytea not null
);
