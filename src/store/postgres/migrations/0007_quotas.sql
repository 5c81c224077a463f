-- Adds quotas, and what each account uses. A node of 0.2.0 does not write the use: it is valid where `used_modseq` is the modseq of the
-- account; elsewhere it is counted again from the emails.

alter table accounts
  add column used_bytes bigint,
  add column used_messages bigint,
  add column used_modseq bigint,
  -- Null: the default of the settings. 0: no limit.
  add column quota_bytes bigint,
  add column quota_messages bigint,
  -- Since when the mailbox has been full.
  add column full_since timestamptz,
  -- The user was told that 90 % are in use, and the use has not been below that since.
  add column quota_noticed boolean not null default false;
create index accounts_limited on accounts (id) where quota_bytes is not null or quota_messages is not null;
-- The sum of a domain.
create index accounts_domain on accounts (split_part(email, '@', 2)) where not unclaimed;

-- Null: no limit.
alter table domains
  add column quota_bytes bigint,
  add column quota_messages bigint,
  add column full_since timestamptz;
