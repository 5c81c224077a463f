-- Imported mail waits in `inbound` as accepted mail does, so that blobs stay and deleted accounts take it along.

-- Order of import; null for accepted mail. Nodes of an earlier version deliver rows by their age, to the inbox: the row of an
-- import has the year 9999 as its time, so they never find it old enough.
create sequence import_numbers;
alter table inbound add column import_number bigint;
create index inbound_imports on inbound (account_id, import_number) where import_number is not null;

-- How far an account has imported a mailbox of an IMAP server: all messages up to this UID. Nodes of an earlier version
-- leave rows of a deleted account behind: they are not read.
create table import_positions (
  account_id uuid not null,
  -- SHA-256 of server, user and mailbox.
  source bytea not null,
  uid_validity bigint not null,
  uid bigint not null,
  primary key (account_id, source)
);
