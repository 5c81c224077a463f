-- Addresses to which an account sends nothing for a time, because mail to them bounced for good. A node of 0.2.0 sends to them.
create table suppressions (
  account_id uuid not null references accounts (id) on delete cascade,
  -- Lower case.
  address text not null,
  reason text not null,
  since timestamptz not null,
  until timestamptz not null,
  -- An operator asks to lift it.
  lifting boolean not null default false,
  primary key (account_id, address)
);
create index suppressions_lifting on suppressions (account_id) where lifting;
