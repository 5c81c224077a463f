-- Folders of the user beside labels, subscriptions, keywords, and the UIDs that left a folder.

alter table folders
  add column is_subscribed boolean not null default true,
  drop constraint folders_role_check,
  add constraint folders_role_check
    check (role in ('inbox', 'sent', 'drafts', 'archive', 'trash', 'junk', 'label', 'folder'));
drop index folders_role;
create unique index folders_role on folders (account_id, role) where role not in ('label', 'folder');

-- A mailbox that is loaded reads the keywords of the few emails that have some.
create index emails_keywords on emails (account_id, id) where keywords <> '{}';

-- The log's entries have another form from this version on. The entries before are not read any more: clients that resume
-- read their mailbox anew. What was expunged is known for as long as the log reaches back, so it goes too.
delete from events;
delete from expunged;

-- Rows are read and pruned by modseq.
alter table expunged drop constraint expunged_pkey;
alter table expunged add primary key (account_id, modseq, folder_id, uid);
