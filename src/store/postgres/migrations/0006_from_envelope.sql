-- The message names no author: from_address is the sender of its envelope.
alter table emails add column from_envelope boolean not null default false;
