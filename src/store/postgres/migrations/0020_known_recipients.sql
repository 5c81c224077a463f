-- Whoever an account has written to before is no stranger to it. This is a file of its own, because it takes long in a large store, and holds
-- no lock that others wait for. The addresses have nearly the canonical form: their tags stay.
insert into known_recipients (account_id, address) select distinct account_id, lower(address) from outbound_recipients
on conflict do nothing;
