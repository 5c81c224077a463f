-- Greylisting: doubtful mail that was deferred once, as hashes of who sent it, its sender and a recipient.
create table greylist_waiting (
  key text primary key,
  network text not null,
  first_at timestamptz not null default now()
);
create index greylist_waiting_network on greylist_waiting (network);
create index greylist_waiting_first on greylist_waiting (first_at);

-- The networks and authenticated domains whose servers have tried again, with the network that did.
create table greylist_known (
  source text primary key,
  network text not null,
  expires_at timestamptz not null
);
create index greylist_known_network on greylist_known (network);
create index greylist_known_expiry on greylist_known (expires_at);
