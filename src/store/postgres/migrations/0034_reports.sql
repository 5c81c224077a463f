-- When a notification that is owed is to be given: failures of a while share one. And what senders ask to be told (RFC 3461).
alter table outbound add column report_at timestamptz;
alter table outbound add column dsn json;
alter table outbound drop constraint outbound_report_due_check;
alter table outbound add constraint outbound_report_due_check
  check (report_due in ('failed', 'delayed', 'delivered', 'relayed'));
-- Later bounces name the message that comes back.
create index outbound_message_id on outbound (account_id, message_id) where message_id is not null;
