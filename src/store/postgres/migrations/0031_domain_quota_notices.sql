-- Lets the operator be told once that a domain has nearly used up its quota. A node of 0.2.0 neither reads nor writes the column.

-- The operator was told that 90 % are in use, and the use has not been below that since.
alter table domains add column quota_noticed boolean not null default false;
