// Implements the meter of feedback reports with prom-client. Domains and senders are not labels, because their number is unlimited.
import { type FeedbackMeter, READ_OUTCOMES } from '../../message-checks/feedback/meter.js';
import type { Families } from './families.js';

export function feedbackMeter(families: Families): FeedbackMeter {
  const reports = families.counter(
    'feedback_reports_total',
    'DMARC and TLS reports of other servers that were read; kind: dmarc, tls or unknown; outcome: counted, repeated, or why it does not count.',
    ['kind', 'outcome'],
  );
  const messages = families.counter(
    'feedback_messages_total',
    'Messages of the hosted domains in DMARC reports; result: whether DMARC passes.',
    ['result'],
  );
  const sessions = families.counter(
    'feedback_tls_sessions_total',
    'Sessions to the hosted domains in TLS reports; result: success or failure.',
    ['result'],
  );
  for (const kind of ['dmarc', 'tls']) for (const outcome of READ_OUTCOMES) reports.inc({ kind, outcome }, 0);
  for (const result of ['pass', 'fail']) messages.inc({ result }, 0);
  for (const result of ['success', 'failure']) sessions.inc({ result }, 0);
  return {
    read: (kind, outcome) => reports.inc({ kind, outcome }),
    messages: (result, count) => messages.inc({ result }, count),
    sessions: (result, count) => sessions.inc({ result }, count),
  };
}
