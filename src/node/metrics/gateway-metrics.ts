// Implements the gateways' meters with prom-client. Labels come from closed sets, never from text of a peer.
import { LOGIN_PROTOCOLS, type LoginMeter } from '../../auth/sign-in.js';
import type { EventStreamMeter } from '../../gateways/events/open-event-streams.js';
import type { HttpMeter } from '../../gateways/http/pipeline/meter.js';
import type { HubMeter } from '../../gateways/hub/meter.js';
import type { ImapMeter } from '../../gateways/imap/meter.js';
import type { Pop3Meter } from '../../gateways/pop3/meter.js';
import type { SieveMeter } from '../../gateways/sieve/meter.js';
import type { SmtpMeter, SubmissionMeter } from '../../gateways/smtp/meter.js';
import type { CheckMeter } from '../../message-checks/check-chain.js';
import type { BlockListMeter } from '../../message-checks/clients/block-lists.js';
import type { Families } from './families.js';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const classOf = (code: number): string => `${Math.trunc(code / 100)}xx`;

export function smtpMeter(families: Families): SmtpMeter {
  const messages = families.counter('smtp_messages_accepted_total', 'Messages answered with 250.');
  const octets = families.counter('smtp_accepted_bytes_total', 'Bytes of accepted messages.');
  const deliveries = families.counter(
    'smtp_deliveries_total',
    'Mailboxes of accepted messages; outcome: placed before the reply, or postponed.',
    ['outcome'],
  );
  const refusals = families.counter(
    'smtp_refused_total',
    'Senders, recipients and messages refused; code: 4xx or 5xx; reason fault: an error of this server.',
    ['code', 'reason'],
  );
  const replies = families.latency('smtp_message_duration_seconds', 'From the end of DATA to the reply.', ['outcome']);
  deliveries.inc({ outcome: 'placed' }, 0);
  deliveries.inc({ outcome: 'postponed' }, 0);
  return {
    accepted({ octets: size, mailboxes, placed }) {
      messages.inc();
      octets.inc(size);
      deliveries.inc({ outcome: 'placed' }, placed);
      if (placed < mailboxes) deliveries.inc({ outcome: 'postponed' }, mailboxes - placed);
    },
    refused: (reason, code) => refusals.inc({ code: classOf(code), reason }),
    replied: (accepted, ms) => replies.observe({ outcome: accepted ? 'accepted' : 'refused' }, ms / 1000),
  };
}

export function checkMeter(families: Families): CheckMeter {
  const verdicts = families.counter(
    'content_checks_total',
    'Verdicts of content checks; outcome: accept, junk, defer, refuse; skipped or postponed: the check gave no answer, and the message was accepted or deferred.',
    ['check', 'outcome'],
  );
  const durations = families.latency('content_check_duration_seconds', 'From the question to the verdict.', ['check']);
  return {
    judged(check, outcome, ms) {
      verdicts.inc({ check, outcome });
      durations.observe({ check }, ms / 1000);
    },
  };
}

export function blockListMeter(families: Families): BlockListMeter {
  const lookups = families.counter(
    'dnsbl_lookups_total',
    'Clients looked up in a DNS block list; outcome: listed, clear, refused (the list does not answer this resolver), failed (no answer), skipped (not asked, because it has given no answers).',
    ['list', 'outcome'],
  );
  return { looked: (list, outcome) => lookups.inc({ list, outcome }) };
}

export function submissionMeter(families: Families): SubmissionMeter {
  const messages = families.counter('submission_messages_queued_total', 'Submitted messages answered with 250.');
  const octets = families.counter('submission_queued_bytes_total', 'Bytes of queued messages.');
  const recipients = families.counter('submission_recipients_total', 'Recipients of queued messages.');
  const refusals = families.counter(
    'submission_refused_total',
    'Senders, recipients and messages refused; code: 4xx or 5xx; reason fault: an error of this server.',
    ['code', 'reason'],
  );
  const replies = families.latency('submission_duration_seconds', 'From the end of DATA to the reply.', ['outcome']);
  return {
    queued(message) {
      messages.inc();
      octets.inc(message.octets);
      recipients.inc(message.recipients);
    },
    refused: (reason, code) => refusals.inc({ code: classOf(code), reason }),
    replied: (accepted, ms) => replies.observe({ outcome: accepted ? 'accepted' : 'refused' }, ms / 1000),
  };
}

export function imapMeter(families: Families): ImapMeter {
  const commands = families.latency(
    'imap_command_duration_seconds',
    'Commands from their last byte to the tagged response; command: of the command table, or unknown; status: OK, NO or BAD.',
    ['command', 'status'],
  );
  const appended = families.counter(
    'imap_appended_bytes_total',
    'Bytes of messages that APPEND and REPLACE have stored.',
  );
  return {
    completed: (command, status, ms) => commands.observe({ command, status }, ms / 1000),
    appended: (octets) => appended.inc(octets),
  };
}

export function pop3Meter(families: Families): Pop3Meter {
  const commands = families.latency(
    'pop3_command_duration_seconds',
    'Commands from their line to the end of the response; command: of the command table, or unknown; status: OK or ERR.',
    ['command', 'status'],
  );
  const retrieved = families.counter('pop3_retrieved_bytes_total', 'Bytes of messages that RETR and TOP have sent.');
  const removed = families.counter('pop3_removed_messages_total', 'Messages that QUIT has taken out of the inbox.');
  return {
    completed: (command, status, ms) => commands.observe({ command, status }, ms / 1000),
    retrieved: (octets) => retrieved.inc(octets),
    removed: (messages) => removed.inc(messages),
  };
}

export function sieveMeter(families: Families): SieveMeter {
  const commands = families.latency(
    'sieve_command_duration_seconds',
    'Commands of ManageSieve from their last byte to the reply; command: of the command table, or unknown; status: OK or NO.',
    ['command', 'status'],
  );
  return { completed: (command, status, ms) => commands.observe({ command, status }, ms / 1000) };
}

/** `roles`: those of the node; a protocol without attempts exports zeros, so that its first attempt is visible. */
export function loginMeter(families: Families, roles: ReadonlySet<string>): LoginMeter {
  const attempts = families.counter(
    'logins_total',
    'Attempts to log in; protocol: submission, imap, pop3 or sieve; outcome: open, wrong, scopeMissing, limited, full or fault.',
    ['protocol', 'outcome'],
  );
  for (const protocol of LOGIN_PROTOCOLS.filter((name) => roles.has(name === 'sieve' ? 'imap' : name))) {
    attempts.inc({ protocol, outcome: 'open' }, 0);
    attempts.inc({ protocol, outcome: 'wrong' }, 0);
  }
  return { attempted: (protocol, outcome) => attempts.inc({ protocol, outcome }) };
}

export function httpMeter(families: Families): HttpMeter {
  const requests = families.latency(
    'http_request_duration_seconds',
    'HTTP requests until the reply was written; route: the path of the route table.',
    ['route', 'method', 'status'],
  );
  return {
    answered(method, route, status, ms) {
      const known = METHODS.has(method) ? method : 'other';
      requests.observe({ route: route ?? 'none', method: known, status: classOf(status) }, ms / 1000);
    },
  };
}

export function hubMeter(families: Families): HubMeter {
  const sent = families.counter(
    'hub_messages_sent_total',
    'Messages sent to hub connections, counted at each connection.',
  );
  const rounds = families.latency(
    'hub_list_round_duration_seconds',
    'Rounds that bring the lists of an account up to date for hub connections; outcome: done or failed.',
    ['outcome'],
  );
  return {
    sent: (messages, connections) => sent.inc(messages * connections),
    listsRead: (outcome, ms) => rounds.observe({ outcome }, ms / 1000),
  };
}

export function eventStreamMeter(families: Families): EventStreamMeter {
  const sent = families.counter('event_stream_events_total', 'Events sent to event streams, counted at each stream.');
  return { sent: (events) => sent.inc(events) };
}
