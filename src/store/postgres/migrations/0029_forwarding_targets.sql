-- Lets an account forward to an address here that another account has (decision 0113). A node of 0.2.0 does not read the column: what it
-- would forward there stays in the account.

-- The operator has verified the address as a target of the account's forwarding. The row gives the account nothing else: it is not verified.
alter table addresses add column forwarding_only boolean not null default false;
