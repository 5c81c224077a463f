-- What the whole REST API needs: logins by OpenID Connect, threads, search, filters, preferences, push subscriptions.

alter table accounts
  add column oidc_issuer text,
  add column oidc_subject text,
  add column last_login_at timestamptz,
  add column mbox_exported_at timestamptz;
create unique index accounts_oidc on accounts (oidc_issuer, oidc_subject) where oidc_subject is not null;

-- SHA-256 of the token, 64 hex digits.
alter table addresses add column verification_hash text;

-- A message id in few octets: the first 16 of its SHA-256.
create function message_key(message_id text) returns uuid language sql immutable strict parallel safe
  return encode(substring(sha256(convert_to(message_id, 'UTF8')) for 16), 'hex')::uuid;

-- The thread of every message id that an email of the account is or refers to, and, under its own id as the key, the
-- thread that a thread was joined with.
create table thread_refs (
  account_id uuid not null,
  message_key uuid not null,
  thread_id uuid not null,
  primary key (account_id, message_key)
);
-- Not led by the account: planned while the table was small, statements that look for an email by its key would take this
-- index and read every email of the account.
create index emails_thread on emails (thread_id);

insert into thread_refs (account_id, message_key, thread_id)
select distinct on (account_id, message_key(message_id)) account_id, message_key(message_id), thread_id
from emails where message_id is not null
order by account_id, message_key(message_id), received_at;

-- Names of labels are unique by the mailbox's own folding of case, which no collation is equal to, and the mailbox writes
-- them alone: an index could only refuse what it has let through.
drop index folders_name;

-- What search looks at. Filled after deliveries, in the order of the ids, which rise within an account: `search_state`
-- says up to which. Every lexeme begins with a short key of its account: so a word's entry in the index holds nothing of
-- other accounts, and a prefix matches no words of theirs, however large the store is.
create table email_search (
  account_id uuid not null,
  email_id uuid not null,
  words tsvector not null,
  filler text not null default repeat(' ', 2000),
  primary key (account_id, email_id)
);
-- A frequent word's rows must be few pages, so the words lie beside them. PostgreSQL moves values away from rows of more
-- than 2 kB only, whatever the target is: the filler makes every row such a row, and is compressed to nothing.
alter table email_search alter column words set storage external;
alter table email_search set (toast_tuple_target = 128);
-- What waits in the list of an index is read whole by every search.
create index email_search_words on email_search using gin (words) with (gin_pending_list_limit = 1024);

create table search_state (
  account_id uuid primary key,
  upto uuid not null
);

create table filters (
  account_id uuid not null,
  id uuid not null,
  name text not null,
  is_enabled boolean not null,
  priority integer not null,
  from_contains text,
  subject_contains text,
  body_contains text,
  has_attachments boolean,
  mark_as_read boolean,
  assign_label_id uuid,
  delete_email boolean,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_applied_at timestamptz,
  times_applied bigint not null default 0,
  primary key (account_id, id)
);

-- What was chosen, never a default: defaults may change.
create table preferences (
  account_id uuid primary key,
  chosen jsonb not null,
  updated_at timestamptz not null default now()
);

create table push_subscriptions (
  account_id uuid not null,
  id uuid not null,
  endpoint text not null,
  p256dh text not null,
  auth text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, id)
);
create unique index push_subscriptions_endpoint on push_subscriptions (account_id, endpoint);
