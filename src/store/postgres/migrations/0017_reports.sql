-- Adds feedback reports of other servers about hosted domains: DMARC aggregate reports and TLS reports (decision 0103).

-- Messages that may be reports and have not been read. The emails refer to the blob; without one it is collected, and the row is dropped.
create table due_reports (
  blob text primary key,
  recipients text[] not null,
  -- The domain that is authenticated as the sender.
  sender text not null,
  at timestamptz not null default now(),
  not_before timestamptz not null default now()
);
create index due_reports_sender on due_reports (sender);
create index due_reports_not_before on due_reports (not_before);

-- Each report counts once.
create table counted_reports (
  -- The hosted domain.
  hosted text not null references domains (name) on delete cascade,
  kind text not null check (kind in ('dmarc', 'tls')),
  sender text not null,
  organization text not null,
  report_id text not null,
  counted_on date not null default (now() at time zone 'utc')::date,
  primary key (hosted, kind, sender, organization, report_id)
);
create index counted_reports_day on counted_reports (hosted, counted_on);

create table dmarc_sums (
  hosted text not null references domains (name) on delete cascade,
  day date not null,
  -- The hosted domain, or a subdomain.
  domain text not null,
  -- The sender of the report.
  reporter text not null,
  -- An IP address; '*' for those beyond the bound.
  source text not null,
  dkim boolean not null,
  spf boolean not null,
  disposition text not null,
  messages bigint not null,
  primary key (hosted, day, domain, reporter, source, dkim, spf, disposition)
);

create table tls_sums (
  hosted text not null references domains (name) on delete cascade,
  day date not null,
  domain text not null,
  reporter text not null,
  policy_type text not null,
  -- A mail host; '' where none is named, '*' for those beyond the bound.
  host text not null,
  result text not null,
  sessions bigint not null,
  primary key (hosted, day, domain, reporter, policy_type, host, result)
);

-- Messages of other domains whose policies want reports, until the report of the day is sent.
create table dmarc_counts (
  -- The domain that has the policy.
  domain text not null,
  day date not null,
  -- SHA-256 of the result.
  hash text not null,
  -- The source and the results of SPF, DKIM and DMARC.
  result json not null,
  messages bigint not null,
  primary key (domain, day, hash)
);
create index dmarc_counts_day on dmarc_counts (day);

-- Reports that are sent, or that nobody wants: what is counted later for such a day is dropped.
create table sent_reports (
  domain text not null,
  day date not null,
  primary key (domain, day)
);
