-- When emails came into their folders, and annotations of folders (RFC 8514, RFC 5464).

-- When the email came into the folder; null: at the time in the email's id, which most emails do. Nodes of an earlier version
-- leave it null.
alter table placements add column saved_at timestamptz;

-- Of a folder; of the account under the folder id 0. Names are in lower case. Nodes of an earlier version leave rows of a
-- deleted folder behind: they are not read.
create table annotations (
  account_id uuid not null,
  folder_id uuid not null,
  name text not null,
  value bytea not null,
  primary key (account_id, folder_id, name)
);
