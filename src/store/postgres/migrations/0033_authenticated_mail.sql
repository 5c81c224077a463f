-- The message begins with the trace fields of the MX, the results of its checks (Authentication-Results) among them.
alter table emails add column has_results boolean not null default false;
