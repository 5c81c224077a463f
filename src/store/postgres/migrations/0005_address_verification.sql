-- Adds what verifications of addresses by mail need. A node of 0.2.0 sends none, and deletes the rows with an account.

-- When the mail with the token was sent; null for a token that nobody got.
alter table addresses add column verification_sent_at timestamptz;
create index addresses_verification on addresses (verification_hash) where verification_hash is not null;

-- The mails of the last day, for the rates.
create table verification_mails (
  account_id uuid not null references accounts (id) on delete cascade,
  address text not null,
  sent_at timestamptz not null default now()
);
create index verification_mails_account on verification_mails (account_id, sent_at);
create index verification_mails_address on verification_mails (address, sent_at);
