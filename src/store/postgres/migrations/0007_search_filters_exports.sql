-- Search finds recipients and names of attachments; filters wait for bodies that could not be read in time; exports that
-- were not served to their end do not count, so many times.

-- Version of what is indexed of an email. Rows of an earlier version are indexed again in the background. Nodes of an earlier
-- version of the program write rows without it during a rolling upgrade, so each row says for itself.
alter table email_search add column version smallint not null default 1;
create index email_search_outdated on email_search (account_id, email_id) where version < 2;

-- Filters whose condition on the body of a delivered email could not be judged at its delivery.
create table deferred_filters (
  account_id uuid not null,
  email_id uuid not null,
  filter_ids uuid[] not null,
  at timestamptz not null default now(),
  primary key (account_id, email_id)
);

-- Since when turns to export were given back, and how many.
alter table accounts
  add column mbox_returned_at timestamptz,
  add column mbox_returned integer not null default 0;
