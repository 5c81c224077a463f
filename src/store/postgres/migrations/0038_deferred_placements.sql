-- What the delivery of an email made whose filters wait for its body: an array of {folderId, uid}. A filter that deletes ends
-- these placements alone. Of emails that wait already it is what stands in the inbox.
alter table deferred_filters add column placed jsonb not null default '[]';
update deferred_filters d set placed = (
  select coalesce(jsonb_agg(jsonb_build_object('folderId', p.folder_id, 'uid', p.uid)), '[]')
  from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
  where p.account_id = d.account_id and p.email_id = d.email_id and f.role = 'inbox'
);
