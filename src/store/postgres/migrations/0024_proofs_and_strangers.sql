-- Whether a passkey was registered by somebody who had signed in otherwise than with an API key (decision 0102): only then it proves who its
-- user is. Those that a node of the version before registers prove nothing.
alter table passkeys add column proven boolean not null default false;

-- The network of the sender, which has a share of the results of a domain and day. Null: counted by a node of the version before.
alter table dmarc_counts add column network text;

-- When an account has written to the address for the first time, so that old ones are deleted.
alter table known_recipients add column since date not null default current_date;
