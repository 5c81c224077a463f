-- The words of emails in segments instead of rows under a GIN index (decision 0058): a segment holds the words of some emails of
-- one account and is never changed, only merged with others into a new one.
create sequence search_segment_ids;

create table search_segments (
  account_id uuid not null,
  -- A merge has a greater one than what it merges.
  id bigint not null default nextval('search_segment_ids'),
  level smallint not null,
  -- 0 while a merge writes pages, -1 when it was given up.
  emails integer not null,
  -- The greatest of `ids`, which are 16 octets each.
  last_id uuid not null,
  ids bytea not null,
  -- Of all words and positions.
  octets bigint not null,
  -- The only page. Null when the pages are in `search_pages`.
  words bytea,
  positions bytea,
  -- False while a merge writes pages, and until the pages of what it has merged are gone.
  is_ready boolean not null default true,
  primary key (account_id, id)
);
-- What merges that were broken off have left.
create index search_segments_unready on search_segments (account_id, id) where not is_ready;

create table search_pages (
  account_id uuid not null,
  segment bigint not null,
  first_word bytea not null,
  part integer not null,
  words bytea not null,
  positions bytea not null,
  primary key (account_id, segment, first_word, part)
);

-- Rows of up to a page of the table stay whole, and nothing is compressed.
alter table search_segments alter column ids set storage external;
alter table search_segments alter column words set storage external;
alter table search_segments alter column positions set storage external;
alter table search_segments set (toast_tuple_target = 8160);
alter table search_pages alter column words set storage external;
alter table search_pages alter column positions set storage external;
alter table search_pages set (toast_tuple_target = 8160);

-- Emails up to it are in segments or in `email_search`. Null until a node that knows segments makes emails of the account
-- searchable: `upto` says it until then. Nodes of the version before go on by `upto` and `email_search` alone, so what is
-- in segments they index again.
alter table search_state add column segments_upto uuid;

-- A node of the version before deletes an account, but not its segments. In the order of `deleteAccountRows`.
create function delete_search_segments() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  delete from search_segments where account_id = old.id;
  delete from search_pages where account_id = old.id;
  return null;
end $$;
create trigger delete_search_segments after delete on accounts
  for each row execute function delete_search_segments();

-- The run of the node that reads segments. A node of the version before does not name its run here. Behind the lock on accounts,
-- which may be waited for: heartbeats are changes of nodes.
alter table nodes add column reads_segments text;
