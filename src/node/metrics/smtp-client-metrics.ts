// Implements the meter of the SMTP client with prom-client. Hosts are not labels, because their number is unlimited.
import type { SmtpClientMeter } from '../../net/smtp-client/meter.js';
import type { Families } from './families.js';

/** Seconds: from a host nearby to one that never answers. */
const HOSTS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

export function smtpClientMeter(families: Families): SmtpClientMeter {
  const hosts = families.histogram(
    'smtp_client_host_duration_seconds',
    'Attempts at one host, from its permit to the last reply.',
    HOSTS,
    ['outcome'],
  );
  const connected = families.counter(
    'smtp_client_connections_total',
    'Connections to other servers that reached their first transaction; tls: none, unverified or verified.',
    ['tls'],
  );
  const octets = families.counter('smtp_client_octets_total', 'Bytes of messages that other servers accepted.', []);
  const logins = families.counter(
    'smtp_client_relay_logins_total',
    'Logins to smart hosts, one per connection; outcome: accepted or refused.',
    ['outcome'],
  );
  let [connections, waiting] = [0, 0];
  families.gauge('smtp_client_connections', 'Open connections to other servers.', () => connections);
  families.gauge('smtp_client_waiting', 'Deliveries that wait for a connection.', () => waiting);
  for (const tls of ['none', 'unverified', 'verified']) connected.inc({ tls }, 0);
  for (const outcome of ['accepted', 'refused']) logins.inc({ outcome }, 0);
  return {
    attempted: (outcome, ms) => hosts.observe({ outcome }, ms / 1000),
    connected: (tls) => connected.inc({ tls }),
    sent: (count) => octets.inc(count),
    inUse(now, queued) {
      connections = now;
      waiting = queued;
    },
    relayLogin: (outcome) => logins.inc({ outcome }),
  };
}
