// Tests the reader of TLS reports: the shapes of large senders, and JSON that is made to hurt.
import { UnreadableReport } from '../../../../src/message-checks/feedback/feedback-reports.js';
import { readTlsJson } from '../../../../src/message-checks/feedback/reading/tls-json.js';
import test from '../../../support/test.js';
import { BEGIN, googleTls, microsoftTls } from '../samples.js';

const read = (text: string) => readTlsJson(Buffer.from(text));

test('the report of Google: failures without details are counted too', (t) => {
  t.deepEqual(read(googleTls()), {
    kind: 'tls',
    domain: 'example.test',
    organization: 'Google Inc.',
    reportId: '2026-11-28T00:00:00Z_example.test',
    begin: BEGIN * 1000,
    sums: [
      { policyType: 'sts', host: '', result: 'success', sessions: 31 },
      { policyType: 'sts', host: 'mx.example.test', result: 'certificate-expired', sessions: 3 },
      { policyType: 'sts', host: '', result: 'unspecified', sessions: 2 },
    ],
  });
});

test('the report of Microsoft', (t) => {
  t.like(read(microsoftTls()), {
    organization: 'Microsoft Corporation',
    sums: [{ policyType: 'no-policy-found', host: '', result: 'success', sessions: 7 }],
  });
});

test('policies of other domains do not count', (t) => {
  const report = JSON.parse(googleTls());
  const other = structuredClone(report.policies[0]);
  other.policy['policy-domain'] = 'other.test';
  report.policies.push(other);
  t.deepEqual(read(JSON.stringify(report)), read(googleTls()));
});

for (const [what, text, message] of [
  ['depth', `{"policies":${'['.repeat(100_000)}`, /deep/],
  ['many values', `{"policies":[${'1,'.repeat(100_000)}1]}`, /values/],
  ['a large text', `{"a":"${'x'.repeat(5_000_000)}"}`, /too large/],
  ['a cut report', googleTls().slice(0, -5), /malformed/],
  ['a list', '[]', /object/],
  ['no policies', googleTls().replace('"policies"', '"others"'), /list/],
  ['an empty list of policies', googleTls().replace(/"policies":.*/, '"policies":[]}'), /policy/],
  ['a negative count', googleTls().replace(':31', ':-31'), /count/],
  ['a count that is no integer', googleTls().replace(':31', ':1e300'), /count/],
  ['a type that is no word', googleTls().replace('certificate-expired', '\\u001b[2J'), /word/],
  ['no domain', googleTls().replace('"policy-domain":"example.test"', '"policy-domain":""'), /domain/],
  ['__proto__', '{"__proto__":{"policies":[]}}', /missing/],
] as const)
  test(`refused: ${what}`, (t) => {
    t.throws(() => read(text), { instanceOf: UnreadableReport, message });
  });
