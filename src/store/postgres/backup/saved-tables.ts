// Which tables a backup saves, and which it leaves out. A new table belongs to one of the two lists: a test compares them with the
// migrations. The columns are those that the catalogue has, so a new column is saved without an entry here.

interface Saved {
  readonly name: string;
  /** A condition in SQL: only these rows are saved. */
  readonly where?: string;
  /** Columns that are left out: they get their defaults. */
  readonly without?: readonly string[];
}

/** The setting with the time of the last backup; see `last-backup.ts`. */
export const LAST_BACKUP = 'last-backup';

/** In an order in which every row comes after the rows that it refers to. */
export const SAVED_TABLES: readonly Saved[] = [
  // A restored store is another cluster: beside the first one, it must not share the subjects of its bus.
  { name: 'settings', where: `key not in ('cluster', '${LAST_BACKUP}')` },
  { name: 'shard_leases', without: ['node_id', 'expires_at'] },
  { name: 'domains' },
  { name: 'domain_aliases' },
  { name: 'aliases' },
  { name: 'dkim_keys' },
  // No node of a restored store requests certificates yet.
  { name: 'acme_accounts', without: ['node_id', 'expires_at'] },
  { name: 'certificates' },
  { name: 'accounts' },
  { name: 'addresses' },
  { name: 'api_keys' },
  { name: 'sessions' },
  { name: 'passkeys' },
  { name: 'preferences' },
  { name: 'blobs' },
  { name: 'blob_chunks' },
  { name: 'blob_candidates' },
  { name: 'folders' },
  { name: 'emails' },
  { name: 'placements' },
  { name: 'annotations' },
  { name: 'thread_refs' },
  { name: 'filters' },
  { name: 'deferred_filters' },
  { name: 'filter_runs' },
  { name: 'filter_run_batches' },
  { name: 'sieve_scripts' },
  { name: 'active_sieve_scripts' },
  { name: 'sieve_tracked_keys' },
  { name: 'due_automatic_mail' },
  // Cursors and positions from before a restore lead nowhere, so the log is left out, except for what deferred writes of flags refer to.
  {
    name: 'events',
    where: 'exists (select from deferred_flag_writes o where o.account_id = events.account_id and o.seq = events.seq)',
  },
  { name: 'deferred_flag_writes' },
  { name: 'inbound' },
  // Clients that repeat a command wait for seconds, not for a restore; accepted mail that may have been placed waits.
  {
    name: 'recent_commands',
    where:
      'exists (select from inbound i where i.account_id = recent_commands.account_id and i.id = recent_commands.id)',
  },
  { name: 'import_positions' },
  // A restored row gets another id, in the order of the rows.
  { name: 'refusals', without: ['id'] },
  { name: 'due_reports' },
  { name: 'counted_reports' },
  { name: 'dmarc_sums' },
  { name: 'tls_sums' },
  { name: 'dmarc_counts' },
  { name: 'sent_reports' },
  { name: 'tls_counts' },
  { name: 'sent_tls_reports' },
  { name: 'outbound' },
  { name: 'outbound_recipients' },
  { name: 'outbound_contents' },
  { name: 'outbound_attempts' },
  { name: 'outbound_requests' },
  { name: 'suppressions' },
  { name: 'sent_counts' },
  { name: 'known_recipients' },
  { name: 'vacation_answered' },
  { name: 'due_junk_lessons' },
  { name: 'junk_lessons' },
  { name: 'junk_words' },
  { name: 'sts_policies' },
  { name: 'push_subscriptions' },
  { name: 'webhooks' },
  { name: 'webhook_deliveries' },
  { name: 'search_state' },
  { name: 'search_segments' },
  { name: 'search_pages' },
];

/** Tables that describe running nodes or the recent past, and have no meaning in a restored store. */
export const UNSAVED_TABLES: readonly string[] = [
  'nodes',
  // Answers to challenges that are over by then.
  'acme_tokens',
  // Notices of deletions, for nodes that were away for a moment.
  'deleted_accounts',
  // Mails of the last day, which count for rates.
  'verification_mails',
  // A restore must not make a used link good again.
  'sign_in_links',
  // Challenges are answered within minutes.
  'spent_challenges',
  // Servers try again, and are known again.
  'greylist_waiting',
  'greylist_known',
  // Made from the words of accounts again.
  'junk_bases',
  // UIDs that have left a folder: every folder gets a new UIDVALIDITY.
  'expunged',
];

/** Tables that a fresh store may have rows in: what a start writes by itself. */
export const FILLED_BY_STARTS: readonly string[] = [
  'settings',
  'shard_leases',
  'domains',
  'nodes',
  'acme_accounts',
  'certificates',
  'acme_tokens',
];

/** Sequences that are no column's own. */
export const SAVED_SEQUENCES: readonly string[] = ['import_numbers', 'search_segment_ids'];
