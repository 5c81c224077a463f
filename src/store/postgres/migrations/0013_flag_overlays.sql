-- Changes of flags that are about many emails: one row here in place of one row an email (decision 0046).

-- Ids that entries of the row name, 16 octets each. They do not compress.
alter table events add column ids bytea;
alter table events alter column ids set storage external;

-- Flags that are not written to `emails` yet: of `count` ids from the one at `first` (0-based) of the change `seq` of the log.
-- They hold for emails whose own modseq is below `seq`. Rows go when the flags have been written to the emails.
create table flag_overlays (
  account_id uuid not null,
  seq bigint not null,
  first integer not null,
  count integer not null,
  flags smallint not null,
  primary key (account_id, seq, first)
);
