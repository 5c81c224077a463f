-- The order of the words of an email, for phrases: null where the words themselves have to be asked, as in all rows that an
-- earlier version has written. It lies in the row, whatever the row's size is.
alter table email_search add column word_order bytea;
alter table email_search alter column word_order set storage plain;
