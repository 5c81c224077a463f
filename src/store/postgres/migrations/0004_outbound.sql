-- Outbound mail: drafts, the queue, what became of every recipient and of every attempt; keys that mail is signed with.

create table outbound (
  account_id uuid not null,
  id uuid not null,
  -- Of its account, which never changes it: the queue is looked at by shard.
  shard integer not null,
  status text not null check (status in ('Draft', 'Queued', 'Sending', 'Sent', 'Failed')),
  -- The message as it is sent, without its DKIM signature; drafts have none.
  blob bytea,
  -- Address of the From field and of the envelope; '' for a draft that names none.
  sender text not null,
  subject text not null,
  message_id text,
  in_reply_to text,
  refs text[] not null default '{}',
  size bigint not null default 0,
  -- The copy in Sent.
  sent_email_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  queued_at timestamptz,
  sent_at timestamptz,
  retry_count integer not null default 0,
  -- While Queued: when it is due.
  next_retry_at timestamptz,
  last_error text,
  -- While Sending: the delivery under way and the incarnation of the node that makes it.
  attempt_id uuid,
  attempt_by text,
  -- What the sender is still to be told.
  report_due text check (report_due in ('failed', 'delayed')),
  delay_reported boolean not null default false,
  -- Snapshot of the outbound email's machine.
  machine json,
  primary key (account_id, id)
) with (fillfactor = 70);
create index outbound_listed on outbound (account_id, status, created_at);
-- The queue, looked at across accounts: small however much was sent before, and nobody reads what others have to send.
create index outbound_due on outbound (shard, next_retry_at) where status = 'Queued';
create index outbound_sending on outbound (shard) where status = 'Sending';
create index outbound_reports on outbound (shard) where report_due is not null;
-- Asked by blob collection alone, across accounts.
create index outbound_blob on outbound using hash (blob);

create table outbound_recipients (
  account_id uuid not null,
  outbound_id uuid not null,
  id uuid not null,
  position integer not null,
  address text not null,
  display_name text,
  type text not null check (type in ('To', 'Cc', 'Bcc')),
  status text not null check (status in ('Pending', 'Delivered', 'Failed')),
  -- In the form that is looked up: lower case, A-labels.
  domain text not null,
  delivered_at timestamptz,
  last_error text,
  -- Enhanced status code of the last answer (RFC 3463).
  status_code text,
  primary key (account_id, outbound_id, id)
) with (fillfactor = 70);

-- Bodies as they were given over REST; what came by submission has them in its blob alone.
create table outbound_contents (
  account_id uuid not null,
  outbound_id uuid not null,
  text_body text,
  html_body text,
  primary key (account_id, outbound_id)
);

-- The delivery timeline: a row for every host that was tried.
create table outbound_attempts (
  account_id uuid not null,
  outbound_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  entry json not null,
  primary key (account_id, outbound_id, id)
);

-- What operators asked of an email in the queue, until its mailbox has done it.
create table outbound_requests (
  account_id uuid not null,
  outbound_id uuid not null,
  action text not null check (action in ('retry', 'cancel')),
  at timestamptz not null default now(),
  primary key (account_id, outbound_id)
);

create table dkim_keys (
  domain text not null references domains (name) on delete cascade,
  selector text not null,
  algorithm text not null check (algorithm in ('rsa', 'ed25519')),
  -- PKCS #8, PEM.
  private_key text not null,
  created_at timestamptz not null default now(),
  primary key (domain, selector)
);

-- MTA-STS policies of other domains (RFC 8461), kept for as long as they say.
create table sts_policies (
  domain text primary key,
  policy_id text not null,
  policy json not null,
  expires_at timestamptz not null
);
