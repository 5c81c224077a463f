-- Adds the results of TLS with mail hosts of other domains, for reports to these domains (RFC 8460, decision 0109).

create table tls_counts (
  -- The domain of the recipients, which has the policy.
  domain text not null,
  -- The domain whose subdomains share a bound.
  owner text not null,
  day date not null,
  -- SHA-256 of the result.
  hash text not null,
  -- The policy, the mail host and the result.
  result json not null,
  sessions bigint not null,
  primary key (domain, day, hash)
);
create index tls_counts_day on tls_counts (day);
create index tls_counts_owner on tls_counts (owner, day);

-- Reports that are sent, or that nobody wants: what is counted later for such a day is dropped.
create table sent_tls_reports (
  domain text not null,
  day date not null,
  -- An https URI that has the report; '' once every target has it.
  target text not null default '',
  primary key (domain, day, target)
);
create index sent_tls_reports_day on sent_tls_reports (day);
