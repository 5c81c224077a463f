-- What the `duplicate` test of Sieve scripts has seen (decision 0107). A node of 0.2.0 runs no scripts.
create table sieve_tracked_keys (
  account_id uuid not null references accounts (id) on delete cascade,
  key text not null,
  -- Until when mail with this key is a duplicate.
  until timestamptz not null,
  primary key (account_id, key)
);
