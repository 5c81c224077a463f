-- Lists of sent emails name the outbound email of each.
create index outbound_sent_copy on outbound (account_id, sent_email_id) where sent_email_id is not null;
