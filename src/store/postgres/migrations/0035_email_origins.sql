-- How an email came, where that decides something: 'appended' by a client over IMAP, or 'submitted': the copy in Sent that
-- submission made, and whose place the copy of the client takes.
alter table emails add column origin text;
