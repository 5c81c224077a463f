-- Runs of filters over existing mail. A node of 0.2.0 does not continue them; the next owner does.
create table filter_runs (
  account_id uuid not null references accounts (id) on delete cascade,
  id uuid not null,
  run json not null,
  primary key (account_id, id)
);

-- What each batch of a run has changed, from which it is undone.
create table filter_run_batches (
  account_id uuid not null references accounts (id) on delete cascade,
  run_id uuid not null,
  number integer not null,
  emails json not null,
  primary key (account_id, run_id, number)
);
