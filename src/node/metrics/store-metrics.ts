// Implements the store's meters with prom-client: group commits of accepted mail, of mail to be sent, and of mailboxes; merges of the search index.
import type { MergeMeter } from '../../actors/mailbox/search/search-merging.js';
import type { CommitMeter } from '../../store/commit-meter.js';
import type { Families } from './families.js';

/** The buckets end at the largest possible group. */
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 200];

export interface CommitMeters {
  /** Messages up to 256 KiB; larger ones have a transaction of their own. */
  readonly inbound: CommitMeter;
  readonly mailboxes: CommitMeter;
  /** Messages to be sent, up to 256 KiB. */
  readonly blobs: CommitMeter;
}

export function commitMeters(families: Families): CommitMeters {
  const labels = ['group', 'outcome'] as const;
  const duration = families.latency(
    'commit_duration_seconds',
    'Group commits; group: inbound (accepted mail), blobs (mail that leaves) or mailboxes.',
    labels,
  );
  const size = families.histogram('commit_group_size', 'Messages or changes of mailboxes in one group commit.', SIZES, [
    'group',
  ]);
  const meterOf = (group: string): CommitMeter => ({
    written(items, ms, ok) {
      duration.observe({ group, outcome: ok ? 'committed' : 'failed' }, ms / 1000);
      size.observe({ group }, items);
    },
  });
  return { inbound: meterOf('inbound'), mailboxes: meterOf('mailboxes'), blobs: meterOf('blobs') };
}

export function mergeMeter(families: Families): MergeMeter {
  const duration = families.latency(
    'search_merge_duration_seconds',
    'Merges of segments of the search index; outcome: merged, or failed.',
    ['outcome'],
  );
  const emails = families.counter('search_merged_emails_total', 'Emails in the segments that merges have written.');
  const octets = families.counter(
    'search_merged_bytes_total',
    'Bytes of words and positions in the segments that merges have written.',
  );
  return {
    merged(outcome, ms) {
      duration.observe({ outcome: 'merged' }, ms / 1000);
      emails.inc(outcome.emails);
      octets.inc(outcome.octets);
    },
    failed(ms) {
      duration.observe({ outcome: 'failed' }, ms / 1000);
    },
  };
}
