-- Adds mail that the server sends because mail arrived (decision 0097): each row becomes one outbound email, or ends without one. A node of
-- 0.2.0 does not know the rows: the next owner of the mailbox sends them.
create table due_automatic_mail (
  account_id uuid not null references accounts (id) on delete cascade,
  -- The outbound email gets this id.
  id uuid not null,
  kind text not null,
  -- The message that arrived.
  blob bytea not null,
  -- Envelope, target and copy (`DueMail` in src/store/mailbox-rows.ts).
  detail json not null,
  primary key (account_id, id)
);
create index due_automatic_mail_blob on due_automatic_mail (blob);
-- What is not queued is looked for often; what waits for its outcome may stay for days.
create index due_automatic_mail_waiting on due_automatic_mail (account_id) where detail ->> 'isQueued' = 'false';

-- What an accepted message is for this account alone: the address that was written to, and targets elsewhere.
alter table inbound add column delivery json;

-- The envelope of an email whose filters wait for its body.
alter table deferred_filters add column envelope json;

-- The address to which a filter forwards.
alter table filters add column forward_to text;
