-- Counts the recipients of forwards, which have limits as what the user sends has (decision 0108). A node of the version before counts none.
alter table sent_counts add column forwarded integer not null default 0;
