// Tests the Authentication-Results field: text of a peer stays within its value, and forged fields are recognised.

import fc from 'fast-check';
import {
  authenticationResults,
  claimsToBeFrom,
  verdictsOf,
} from '../../../src/mail-format/authentication/authentication-results.js';
import test from '../../support/test.js';

test('a field is folded a line a result', (t) => {
  t.is(
    authenticationResults('mx.example.test', [
      { method: 'spf', result: 'pass', properties: [['smtp.mailfrom', 'a+b@peer.test']] },
      { method: 'dkim', result: 'fail', comment: 'body hash did not verify', properties: [['header.d', 'peer.test']] },
      { method: 'dmarc', result: 'none', properties: [['header.from', '']] },
    ]),
    'Authentication-Results: mx.example.test;\r\n' +
      '\tspf=pass smtp.mailfrom=a+b@peer.test;\r\n' +
      '\tdkim=fail (body hash did not verify) header.d=peer.test;\r\n' +
      '\tdmarc=none\r\n',
  );
});

test('without results there are none', (t) => {
  t.is(authenticationResults('mx.example.test', []), 'Authentication-Results: mx.example.test;\r\n\tnone\r\n');
});

test('whatever stands in a property stays in it', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ maxLength: 40 }), (value, comment) => {
      const field = authenticationResults('mx.example.test', [
        { method: 'spf', result: 'fail', comment, properties: [['smtp.mailfrom', value]] },
        { method: 'dmarc', result: 'fail' },
      ]);
      t.regex(field, /^Authentication-Results: mx\.example\.test;\r\n\tspf=[^\r\n]*;\r\n\tdmarc=fail\r\n$/);
      t.regex(field, /^[\t\r\n -~]*$/);
      // There is no second result outside of quotes and our comment.
      const bare = field.replace(/(spf=fail) \([^()]*\)/, '$1').replace(/"(?:[^"\\]|\\.)*"/g, '');
      t.is(bare.split(';').length, 3, field);
      const { spf, dkim, dmarc } = verdictsOf(field.slice(field.indexOf(':') + 1));
      t.deepEqual([spf.result, dkim.result, dmarc.result], ['fail', 'none', 'fail']);
    }),
  );
});

test('fields that claim to be ours', (t) => {
  const claims = [
    ' mx.example.test; spf=pass',
    'mx.example.test;spf=pass',
    ' MX.Example.TEST 1; none',
    ' (a (nested) comment) mx.example.test; spf=pass',
    ' "mx.example.test"; spf=pass',
    ' "mx.\\example.test"; spf=pass',
    ' mx.example.test.; spf=pass',
    ' mx.example.test(comment); spf=pass',
    '\t\tmx.example.test',
    ' =mx.example.test; spf=pass',
    ' <mx.example.test>; spf=pass',
  ];
  for (const value of claims) t.true(claimsToBeFrom('mx.example.test', value), value);
});

test('fields of others stay', (t) => {
  const others = [
    ' mx.other.test; spf=pass smtp.mailfrom=mx.example.test',
    ' xmx.example.test; spf=pass',
    ' example.test; spf=pass',
    ' (mx.example.test) mx.other.test; none',
    '',
  ];
  for (const value of others) t.false(claimsToBeFrom('mx.example.test', value), value);
});
