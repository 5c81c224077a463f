-- Senders who have got a vacation reply. A node of 0.2.0 sends none; the next owner of the mailbox does.
create table vacation_answered (
  account_id uuid not null references accounts (id) on delete cascade,
  -- The period of the vacation and the address.
  key text not null,
  -- When the sender may get another reply.
  until timestamptz not null,
  primary key (account_id, key)
);
