// Tests the reports about TLS that are written: members and forms of RFC 8460 §4.4, and the own reader reads them back.
import { writeTlsJson } from '../../../../src/message-checks/feedback/own/tls-report-json.js';
import { readTlsJson } from '../../../../src/message-checks/feedback/reading/tls-json.js';
import type { TlsCount, TlsResult } from '../../../../src/store/feedback/own-tls-reports.js';
import test from '../../../support/test.js';

const HEAD = {
  organization: 'example.test',
  contact: 'postmaster@example.test',
  reportId: '5bd8',
  begin: 1_795_824_000,
  end: 1_795_910_399,
};
const STS = { policyType: 'sts', policy: { mode: 'testing', mx: ['*.peer.test'], maxAge: 86_400 } } as const;
const HOST = { host: 'mx.peer.test', address: '2001:db8::1', reason: null } as const;

const count = (result: TlsResult, sessions: number): TlsCount => ({
  domain: 'peer.test',
  day: '2026-11-28',
  result,
  sessions,
});

const COUNTS = [
  count({ ...STS, ...HOST, result: 'success' }, 40),
  count({ ...STS, ...HOST, result: 'certificate-expired', reason: 'CERT_HAS_EXPIRED' }, 3),
  count(
    { policyType: 'sts', policy: null, host: null, address: null, result: 'sts-policy-fetch-error', reason: null },
    1,
  ),
  count({ policyType: 'no-policy-found', policy: null, ...HOST, result: 'starttls-not-supported' }, 2),
];

test('the members are those of RFC 8460', (t) => {
  t.deepEqual(JSON.parse(writeTlsJson(HEAD, 'peer.test', COUNTS)), {
    'organization-name': 'example.test',
    'date-range': { 'start-datetime': '2026-11-28T00:00:00Z', 'end-datetime': '2026-11-28T23:59:59Z' },
    'contact-info': 'postmaster@example.test',
    'report-id': '5bd8',
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1', 'mode: testing', 'mx: *.peer.test', 'max_age: 86400'],
          'mx-host': ['*.peer.test'],
          'policy-domain': 'peer.test',
        },
        summary: { 'total-successful-session-count': 40, 'total-failure-session-count': 3 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'receiving-mx-hostname': 'mx.peer.test',
            'receiving-ip': '2001:db8::1',
            'failed-session-count': 3,
            'failure-reason-code': 'CERT_HAS_EXPIRED',
          },
        ],
      },
      {
        policy: { 'policy-type': 'sts', 'policy-domain': 'peer.test' },
        summary: { 'total-successful-session-count': 0, 'total-failure-session-count': 1 },
        'failure-details': [{ 'result-type': 'sts-policy-fetch-error', 'failed-session-count': 1 }],
      },
      {
        policy: { 'policy-type': 'no-policy-found', 'policy-domain': 'peer.test' },
        summary: { 'total-successful-session-count': 0, 'total-failure-session-count': 2 },
        'failure-details': [
          {
            'result-type': 'starttls-not-supported',
            'receiving-mx-hostname': 'mx.peer.test',
            'receiving-ip': '2001:db8::1',
            'failed-session-count': 2,
          },
        ],
      },
    ],
  });
});

test('the own reader reads the report back', (t) => {
  t.deepEqual(readTlsJson(Buffer.from(writeTlsJson(HEAD, 'peer.test', COUNTS))), {
    kind: 'tls',
    domain: 'peer.test',
    organization: 'example.test',
    reportId: '5bd8',
    begin: 1_795_824_000_000,
    sums: [
      { policyType: 'sts', host: '', result: 'success', sessions: 40 },
      { policyType: 'sts', host: 'mx.peer.test', result: 'certificate-expired', sessions: 3 },
      { policyType: 'sts', host: '', result: 'sts-policy-fetch-error', sessions: 1 },
      { policyType: 'no-policy-found', host: 'mx.peer.test', result: 'starttls-not-supported', sessions: 2 },
    ],
  });
});
