-- The common base of the junk filter of a domain (decision 0111): what several of its accounts have taught, packed as `junk_words` are, and
-- empty while too few have. It is made from their words again and again. A node of the version before neither reads nor writes it, and
-- deletes it with the domain.
create table junk_bases (
  domain text primary key references domains (name) on delete cascade,
  words bytea not null,
  made_at timestamptz not null default now()
);
