-- Conditions and actions of filters. A node of 0.2.0 does not know them, and would apply a filter that has some to more mail than it is
-- meant for. So such a filter has `is_enabled` false, and `is_active` says whether it is enabled.
alter table filters add column to_contains text;
alter table filters add column cc_contains text;
alter table filters add column header_name text;
alter table filters add column header_contains text;
alter table filters add column list_id text;
alter table filters add column min_size_bytes bigint;
alter table filters add column max_size_bytes bigint;
-- A regular expression.
alter table filters add column matches text;
alter table filters add column move_to_folder_id uuid;
-- `\Flagged` or a keyword.
alter table filters add column flag text;
alter table filters add column stop boolean;
-- Why the mailbox has disabled the filter.
alter table filters add column disabled_reason text;
alter table filters add column is_active boolean;
