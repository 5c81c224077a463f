-- Adds aliases of addresses and of whole domains (decision 0093). A node of 0.2.0 does not know them and treats their addresses as unknown.

create table aliases (
  -- In canonical form; `*@domain` stands for every address of the domain that no account has.
  address text primary key,
  -- In canonical form.
  targets text[] not null,
  -- Whether the accounts that it leads to may send as this address, though it leads to several.
  send_as boolean not null,
  created_at timestamptz not null default now()
);
create index aliases_targets on aliases using gin (targets);

-- `x@name` is `x@target`, unless somebody has `x@name`.
create table domain_aliases (
  name text primary key references domains (name) on delete cascade,
  target text not null references domains (name) on delete cascade
);
create index domain_aliases_target on domain_aliases (target);
