-- Sieve scripts of accounts (decision 0105). A node of 0.2.0 neither runs nor changes them.
create table sieve_scripts (
  account_id uuid not null references accounts (id) on delete cascade,
  name text not null,
  content text not null,
  primary key (account_id, name)
);

-- Which script runs when mail arrives; an account without a row has none.
create table active_sieve_scripts (
  account_id uuid primary key references accounts (id) on delete cascade,
  name text not null
);
