-- The whole schema, by subject. Tables that belong to an account lead with account_id in every key (decision 0010), so that the schema
-- can be distributed by it; accounts, addresses, domains, keys, blobs and the tables of the cluster are found by keys of their own.

-- ------------------------------------------------------------------------------------------------------------------------------
-- Cluster: nodes, and which of them owns which shard (decisions 0002, 0003)
-- ------------------------------------------------------------------------------------------------------------------------------

create table settings (
  key text primary key,
  value text not null
);

-- A row per shard. Leases are renewed every second: a fillfactor keeps the new versions of a row on its page.
create table shard_leases (
  shard integer primary key,
  node_id text,
  epoch bigint not null default 0,
  expires_at timestamptz not null default '-infinity'
) with (fillfactor = 50);

-- A row per node, while it lives and for a day after.
create table nodes (
  id text primary key,
  incarnation text not null,
  version text not null,
  roles text[] not null,
  bus text not null,
  state text not null,
  started_at timestamptz not null,
  beat_at timestamptz not null,
  expires_at timestamptz not null,
  -- Where clients reach the node: a JSON object of `host:port` by the name of the listener.
  listeners json not null default '{}'
) with (fillfactor = 50);

-- ------------------------------------------------------------------------------------------------------------------------------
-- Directory: domains, accounts, addresses, keys
-- ------------------------------------------------------------------------------------------------------------------------------

create table domains (
  name text primary key,
  created_at timestamptz not null default now(),
  -- Where mail of its senders goes: the URL of a smart host, or 'direct'. Null: as MANSIO_RELAY_URL says.
  relay text
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

-- Every commit of a mailbox updates the row of its account: a fillfactor keeps the new versions on its page.
create table accounts (
  id uuid primary key,
  shard integer not null,
  email text not null unique,
  display_name text not null,
  -- An unclaimed mailbox has no login: it keeps the mail of an unknown address until an account claims it.
  unclaimed boolean not null default false,
  -- The epoch of the owner's lease, and the number of the newest change: the fence of every commit (decision 0002).
  epoch bigint not null default 0,
  modseq bigint not null default 1,
  created_at timestamptz not null default now(),
  -- Login by OpenID Connect.
  oidc_issuer text,
  oidc_subject text,
  last_login_at timestamptz,
  -- When the account has last exported, and since when exports were given back uncounted, and how many.
  mbox_exported_at timestamptz,
  mbox_returned_at timestamptz,
  mbox_returned integer not null default 0
) with (fillfactor = 60);
create index accounts_unclaimed on accounts (created_at) where unclaimed;
create unique index accounts_oidc on accounts (oidc_issuer, oidc_subject) where oidc_subject is not null;

-- Nodes that have missed the notice of a deletion find it here, and end what its clients have open.
create table deleted_accounts (
  id uuid primary key,
  deleted_at timestamptz not null default now()
);
create index deleted_accounts_at on deleted_accounts (deleted_at);

-- Anyone may ask for an address; the one account that has it verified gets its mail. An unverified row blocks nobody.
create table addresses (
  id uuid primary key,
  address text not null,
  account_id uuid not null references accounts (id) on delete cascade,
  domain text not null,
  unclaimed boolean not null default false,
  verified boolean not null,
  added_at timestamptz not null default now(),
  -- SHA-256 of the token, 64 hex digits.
  verification_hash text
);
create unique index addresses_owner on addresses (address) where verified;
create unique index addresses_account on addresses (account_id, address);
create index addresses_unclaimed on addresses (domain) where unclaimed;

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
  revoked_at timestamptz,
  -- The device that the key was made for: the account has one active key per device.
  device_id text
);
create index api_keys_account on api_keys (account_id);
create unique index api_keys_device on api_keys (account_id, device_id) where revoked_at is null and device_id is not null;

-- ------------------------------------------------------------------------------------------------------------------------------
-- Messages: immutable blobs (decision 0006)
-- ------------------------------------------------------------------------------------------------------------------------------

create table blobs (
  hash bytea primary key,
  size bigint not null,
  mime_index json not null,
  -- When the blob was last stored: collection spares it for a while after.
  stored_at timestamptz not null default now()
);

-- A chunk fits a page with its key: rows of a table cost less than the pieces of a TOAST table, and mail does not compress
-- (decision 0018). The storage is plain for the hash too: rows larger than 2 kB have whatever may leave moved to the TOAST table.
create table blob_chunks (
  hash bytea not null,
  seq integer not null,
  data bytea not null,
  primary key (hash, seq)
);
alter table blob_chunks alter column hash set storage plain;
alter table blob_chunks alter column data set storage plain;

-- Blobs that lost a reference: collection looks at these only. There is no primary key, because adding must never wait or fail.
create table blob_candidates (
  hash bytea not null,
  at timestamptz not null default now()
);
create index blob_candidates_at on blob_candidates (at);

-- ------------------------------------------------------------------------------------------------------------------------------
-- Mailboxes: folders, emails, and where they are placed
-- ------------------------------------------------------------------------------------------------------------------------------

-- Names are unique by the mailbox's own folding of case, which no collation equals; the mailbox alone writes them.
create table folders (
  account_id uuid not null,
  id uuid not null,
  role text not null check (role in ('inbox', 'sent', 'drafts', 'archive', 'trash', 'junk', 'label', 'folder')),
  name text not null,
  color text,
  sort_order integer not null default 0,
  uidvalidity bigint not null,
  uidnext bigint not null default 1,
  total integer not null default 0,
  unread integer not null default 0,
  highest_modseq bigint not null default 1,
  created_at timestamptz not null default now(),
  is_subscribed boolean not null default true,
  primary key (account_id, id)
) with (fillfactor = 60);
create unique index folders_role on folders (account_id, role) where role not in ('label', 'folder');

-- A change of flags writes a new version of the row: the fillfactor leaves room for it on the page, where it needs no entries in the
-- indexes.
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
  -- The message names no author: from_address is the sender of its envelope.
  from_envelope boolean not null default false,
  -- The message begins with the trace fields of the MX, the results of its checks (Authentication-Results) among them.
  has_results boolean not null default false,
  -- How the email came, where that decides something: 'appended' by a client over IMAP; 'submitted' for the copy in Sent that
  -- submission made, and whose place the copy of the client takes; 'sent' for the copy that REST made, and for another email that
  -- arrived with the message of one that was sent.
  origin text,
  primary key (account_id, id)
) with (fillfactor = 85);
-- Only the collection of blobs asks by blob, across accounts.
create index emails_blob on emails using hash (blob);
-- The account does not lead: statements that look for an email by its key, planned while the table was small, would take this index
-- and read every email of the account.
create index emails_thread on emails (thread_id);
-- A mailbox that is loaded reads the keywords of the few emails that have some.
create index emails_keywords on emails (account_id, id) where keywords <> '{}';

create table placements (
  account_id uuid not null,
  folder_id uuid not null,
  uid bigint not null,
  email_id uuid not null,
  deleted boolean not null default false,
  modseq bigint not null,
  -- When the email came into the folder; null: at the time in the email's id, as most emails do.
  saved_at timestamptz,
  primary key (account_id, folder_id, uid)
);

-- UIDs that have left a folder: one row for UIDs that follow each other and left together. `last_uid` is null where it is one UID.
create table expunged (
  account_id uuid not null,
  folder_id uuid not null,
  uid bigint not null,
  modseq bigint not null,
  last_uid bigint,
  primary key (account_id, modseq, folder_id, uid)
);

-- Annotations of a folder (RFC 5464); of the account under the folder id 0. Names are in lower case.
create table annotations (
  account_id uuid not null,
  folder_id uuid not null,
  name text not null,
  value bytea not null,
  primary key (account_id, folder_id, name)
);

-- A message id in 16 octets: the first of its SHA-256.
create function message_key(message_id text) returns uuid language sql immutable strict parallel safe
  return encode(substring(sha256(convert_to(message_id, 'UTF8')) for 16), 'hex')::uuid;

-- The thread of every message id that an email of the account is or refers to, and, with its own id as the key, the thread that a
-- thread was joined with (decision 0022).
create table thread_refs (
  account_id uuid not null,
  message_key uuid not null,
  thread_id uuid not null,
  primary key (account_id, message_key)
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

-- Filters that wait for the body of an email, because it could not be read in time at its delivery.
create table deferred_filters (
  account_id uuid not null,
  email_id uuid not null,
  filter_ids uuid[] not null,
  at timestamptz not null default now(),
  -- The placements that the delivery made, an array of {folderId, uid}: a filter that deletes ends these alone.
  placed jsonb not null default '[]',
  primary key (account_id, email_id)
);

-- What the account has chosen, never a default: defaults may change.
create table preferences (
  account_id uuid primary key,
  chosen jsonb not null,
  updated_at timestamptz not null default now()
);

-- ------------------------------------------------------------------------------------------------------------------------------
-- The log of changes (decision 0005), and changes of many flags (decision 0046)
-- ------------------------------------------------------------------------------------------------------------------------------

-- A row per change. Long entries and ids are about many emails: they hardly compress, so nothing tries to.
create table events (
  account_id uuid not null,
  seq bigint not null,
  -- The events of the change, in order: [{"type", "payload"}, …].
  entries json not null,
  at timestamptz not null,
  -- Ids that the entries name, 16 octets each.
  ids bytea,
  primary key (account_id, seq)
);
alter table events alter column entries set storage external;
alter table events alter column ids set storage external;
create index events_at on events using brin (at);

-- Flags that are not written to `emails` yet: of `count` ids from the one at `first` (0-based) of the change `seq` of the log. They
-- hold for emails whose own modseq is lower than `seq`. Rows go when the flags have been written to the emails.
create table deferred_flag_writes (
  account_id uuid not null,
  seq bigint not null,
  first integer not null,
  count integer not null,
  flags smallint not null,
  -- All keywords that each of the emails has; null where the emails keep those they have.
  keywords text[],
  primary key (account_id, seq, first)
);

-- Commands that were carried out, for as long as they may be asked again: a repeat gets the reply of the first time.
create table recent_commands (
  account_id uuid not null,
  id uuid not null,
  reply json not null,
  at timestamptz not null default now(),
  primary key (account_id, id)
);
create index recent_commands_at on recent_commands using brin (at);

-- ------------------------------------------------------------------------------------------------------------------------------
-- Mail on its way in: accepted mail, imports, addresses that no account has
-- ------------------------------------------------------------------------------------------------------------------------------

-- Imported mail waits among accepted mail (decision 0048), so that its blobs stay and a deleted account takes it along.
create sequence import_numbers;

create table inbound (
  account_id uuid not null,
  id uuid not null,
  blob bytea not null,
  envelope json not null,
  at timestamptz not null default now(),
  -- The mailbox was asked before the row was written, and may have placed the mail: then the id is in recent_commands.
  is_tried boolean not null default false,
  -- The order of an import; null for accepted mail.
  import_number bigint,
  primary key (account_id, id)
);
create index inbound_imports on inbound (account_id, import_number) where import_number is not null;

-- How far an account has imported a mailbox of an IMAP server: all messages up to this UID.
create table import_positions (
  account_id uuid not null,
  -- SHA-256 of server, user and mailbox.
  source bytea not null,
  uid_validity bigint not null,
  uid bigint not null,
  primary key (account_id, source)
);

-- Mail that the SMTP listeners refused, for `mansio trace`.
create table refusals (
  id bigint generated always as identity,
  at timestamptz not null,
  node text not null,
  listener text not null check (listener in ('mx', 'submission')),
  remote_address text not null,
  sender text,
  recipients text[] not null,
  -- Of a message; null where a command was refused.
  transaction_id uuid,
  message_id text,
  code integer not null,
  reason text not null
);

-- Makes accounts without a login for addresses that nobody has, as far as their domains have fewer unclaimed addresses than the limit of each
-- allows, and names the account of every address that has one then. A function, because what is read after the locks were
-- taken must be newer than what a single statement would see. Rows are found by their keys, however small the tables were when the
-- function was planned. `folder_ids` has, for each address, one id per role.
create function hold_addresses(
  wanted text[], domains text[], limits bigint[], account_ids uuid[], shards integer[], address_ids uuid[],
  folder_ids uuid[], roles text[], names text[]
) returns table (held_address text, held_account uuid) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  -- In one order, so that no two calls wait for each other.
  perform pg_advisory_xact_lock(k.key) from (
    select distinct hashtextextended('mansio addresses of ' || d, 0) as key from unnest(domains) d order by key
  ) k;
  return query
  with asked as (
    select distinct on (address) *
    from unnest(wanted, domains, limits, account_ids, shards, address_ids) with ordinality
      as w (address, domain, most, account_id, shard, address_id, n)
    order by address, n
  ), known as materialized (
    select w.address, a.account_id from asked w join addresses a on a.address = w.address and a.verified
  ), free as materialized (
    select w.*, row_number() over (partition by w.domain order by w.n) as place
    from asked w where not exists (select from known k where k.address = w.address)
  ), counted as materialized (
    select d.domain, (select count(*) from addresses a where a.domain = d.domain and a.unclaimed) as unclaimed
    from (select distinct domain from free) d
  ), admitted as materialized (
    select f.* from free f join counted c using (domain) where c.unclaimed + f.place <= f.most
  ), account as (
    insert into accounts (id, shard, email, display_name, unclaimed) select account_id, shard, address, '', true from admitted
  ), address as (
    insert into addresses (id, address, account_id, domain, unclaimed, verified)
    select address_id, address, account_id, domain, true, true from admitted
  ), folder as (
    insert into folders (account_id, id, role, name, sort_order, uidvalidity)
    select a.account_id, folder_ids[(a.n - 1) * cardinality(roles) + f.position], f.role, f.name, f.position,
      extract(epoch from now())::bigint
    from admitted a, unnest(roles, names) with ordinality as f (role, name, position)
  )
  select address, account_id from known union all select address, account_id from admitted;
end $$;

-- ------------------------------------------------------------------------------------------------------------------------------
-- Outbound mail (decision 0008): drafts, the queue, and what became of every recipient and every attempt
-- ------------------------------------------------------------------------------------------------------------------------------

create table outbound (
  account_id uuid not null,
  id uuid not null,
  -- The shard of the account, which never changes: the queue is read by shard.
  shard integer not null,
  status text not null check (status in ('Draft', 'Queued', 'Sending', 'Sent', 'Failed')),
  -- The message as it is sent, without its DKIM signature; a draft's as it is written now.
  blob bytea not null,
  -- Address of the From field and of the envelope; '' for a draft that names none.
  sender text not null,
  subject text not null,
  message_id text,
  in_reply_to text,
  refs text[] not null default '{}',
  size bigint not null default 0,
  -- The email that stands for it: in Drafts while it is a draft, then the copy in Sent.
  sent_email_id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  queued_at timestamptz,
  sent_at timestamptz,
  retry_count integer not null default 0,
  -- While Queued: when the email is due.
  next_retry_at timestamptz,
  last_error text,
  -- While Sending: the delivery under way, and the incarnation of the node that makes it.
  attempt_id uuid,
  attempt_by text,
  -- The notification that the sender is owed first.
  dsn_due text check (dsn_due in ('failed', 'delayed', 'delivered', 'relayed')),
  delay_reported boolean not null default false,
  -- Snapshot of the outbound email's machine.
  machine json,
  -- While the email is held (decision 0052): until when.
  held_until timestamptz,
  -- When that notification is to be given: failures of a while share one.
  dsn_at timestamptz,
  -- What the sender asks to be told (RFC 3461).
  dsn json,
  -- A restore brought the email back while it was not final: nobody tries it before an operator releases it.
  awaits_release boolean not null default false,
  primary key (account_id, id)
) with (fillfactor = 70);
create index outbound_listed on outbound (account_id, status, created_at);
-- The queue, read across accounts: small however much was sent before, and no node reads what other shards have to send.
create index outbound_due on outbound (shard, next_retry_at) where status = 'Queued' and not awaits_release;
create index outbound_sending on outbound (shard) where status = 'Sending' and not awaits_release;
create index outbound_reports on outbound (shard) where dsn_due is not null;
create index outbound_held on outbound (shard, held_until) where held_until is not null and not awaits_release;
create index outbound_awaiting on outbound (account_id) where awaits_release;
-- What is sent or failed, and owes its sender no report: it is deleted some days after its last change.
create index outbound_final on outbound (updated_at) where status in ('Sent', 'Failed') and dsn_due is null;
-- Lists of sent emails name the outbound email of each.
create index outbound_sent_copy on outbound (account_id, sent_email_id);
-- Later bounces name the message that comes back.
create index outbound_message_id on outbound (account_id, message_id) where message_id is not null;
-- Only the collection of blobs asks by blob, across accounts.
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
  action text not null check (action in ('retry', 'cancel', 'release')),
  at timestamptz not null default now(),
  primary key (account_id, outbound_id)
);

-- MTA-STS policies of other domains (RFC 8461), kept for as long as they say.
create table sts_policies (
  domain text primary key,
  policy_id text not null,
  policy json not null,
  expires_at timestamptz not null
);

-- ------------------------------------------------------------------------------------------------------------------------------
-- Certificates by ACME (decision 0080)
-- ------------------------------------------------------------------------------------------------------------------------------

-- The account of the cluster at each directory, and the node that may request certificates there.
create table acme_accounts (
  directory text primary key,
  -- PKCS #8, PEM.
  private_key text not null,
  -- Null before the account is registered.
  url text,
  node_id text,
  epoch bigint not null default 0,
  expires_at timestamptz not null default '-infinity',
  -- Rises with each new certificate.
  revision bigint not null default 0
);

create table certificates (
  directory text not null references acme_accounts (directory) on delete cascade,
  -- Null: the deployment's own names.
  domain text references domains (name) on delete cascade,
  -- Null, as all columns down to `revision`, before the first certificate.
  names text[],
  -- PEM.
  chain text,
  private_key text,
  not_after timestamptz,
  renewal_id text,
  renew_at timestamptz,
  ask_at timestamptz,
  revision bigint,
  next_at timestamptz not null,
  failures integer not null default 0,
  error_type text,
  error text,
  -- The names of the last request.
  tried text[],
  unique nulls not distinct (directory, domain)
);

-- The answers to open challenges, which every node gives.
create table acme_tokens (
  token text primary key,
  key_authorization text not null,
  expires_at timestamptz not null
);

-- ------------------------------------------------------------------------------------------------------------------------------
-- Consumers of the log: push subscriptions and webhooks (decision 0050)
-- ------------------------------------------------------------------------------------------------------------------------------

create table push_subscriptions (
  account_id uuid not null,
  id uuid not null,
  endpoint text not null,
  p256dh text not null,
  auth text not null,
  created_at timestamptz not null default now(),
  -- All changes up to this one are done.
  seq bigint not null,
  retry_at timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  primary key (account_id, id)
);
create unique index push_subscriptions_endpoint on push_subscriptions (account_id, endpoint);

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
  -- The place within the change after `seq`: its events up to this one are done.
  within_seq bigint,
  within_n integer,
  within_k integer,
  -- As in push_subscriptions.
  seq bigint not null,
  retry_at timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  primary key (account_id, id)
);

-- Attempts to deliver, the newest of each webhook.
create table webhook_deliveries (
  account_id uuid not null,
  webhook_id uuid not null,
  -- Ids rise with time.
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

-- ------------------------------------------------------------------------------------------------------------------------------
-- Search: the words of an account in segments (decision 0058)
-- ------------------------------------------------------------------------------------------------------------------------------

-- Emails up to `upto` are in segments.
create table search_state (
  account_id uuid primary key,
  upto uuid not null
);

create sequence search_segment_ids;

-- A segment holds the words of some emails of one account and is never changed, only merged with others into a new one. Rows of up
-- to a page of the table stay whole, and nothing is compressed.
create table search_segments (
  account_id uuid not null,
  -- A merge has a greater id than what it merges.
  id bigint not null default nextval('search_segment_ids'),
  level smallint not null,
  -- 0 while a merge writes pages, -1 when the merge was given up.
  emails integer not null,
  -- The greatest of `ids`, which are 16 octets each.
  last_id uuid not null,
  ids bytea not null,
  -- The octets of all words and positions.
  octets bigint not null,
  -- The only page. Null when the pages are in `search_pages`.
  words bytea,
  positions bytea,
  -- False while a merge writes pages, and until the pages of what it has merged are gone.
  is_ready boolean not null default true,
  primary key (account_id, id)
) with (toast_tuple_target = 8160);
alter table search_segments alter column ids set storage external;
alter table search_segments alter column words set storage external;
alter table search_segments alter column positions set storage external;
-- What merges that were broken off have left.
create index search_segments_unready on search_segments (account_id, id) where not is_ready;

create table search_pages (
  account_id uuid not null,
  segment bigint not null,
  first_word bytea not null,
  part integer not null,
  words bytea not null,
  positions bytea not null,
  primary key (account_id, segment, first_word, part)
) with (toast_tuple_target = 8160);
alter table search_pages alter column words set storage external;
alter table search_pages alter column positions set storage external;
