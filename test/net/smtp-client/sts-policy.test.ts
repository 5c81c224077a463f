// Tests the parsing of MTA-STS records and policies, and which hosts a policy allows.

import fc from 'fast-check';
import { allowsHost, parseStsPolicy, stsId } from '../../../src/net/smtp-client/sts-policy.js';
import test from '../../support/test.js';

test('the id of a record', (t) => {
  t.is(stsId([['v=STSv1; id=20160831085700Z;']]), '20160831085700Z');
  t.is(stsId([['v=spf1 -all'], ['v=STS', 'v1;id=a1']]), 'a1');
  t.is(stsId([['v=STSv1; x=y; id=a']]), 'a');
  for (const records of [[], [['v=STSv1']], [['v=STSv1; id=']], [['v=STSv1; id=a-b']], [['v=STSv12; id=a']]]) {
    t.is(stsId(records), undefined);
  }
  t.is(stsId([['v=STSv1; id=a'], ['v=STSv1; id=b']]), undefined, 'two are none');
});

test('a policy, with the first of what must not be repeated', (t) => {
  const text =
    'version: STSv1\nmode: enforce\nmode: none\nmx: Mail.example.com\nmx:*.example.net\nmax_age: 604800\nmore: later\n';
  t.deepEqual(parseStsPolicy(text), {
    mode: 'enforce',
    mx: ['mail.example.com', '*.example.net'],
    maxAge: 604_800_000,
  });
  t.deepEqual(parseStsPolicy('version: STSv1\r\nmode: none\r\nmax_age: 99999999999'), undefined);
  t.is(parseStsPolicy('version: STSv1\r\nmode: none\r\nmax_age: 9999999999')?.maxAge, 31_557_600_000);
});

test('what is no policy', (t) => {
  const good = ['version: STSv1', 'mode: enforce', 'mx: a.test', 'max_age: 60'];
  t.truthy(parseStsPolicy(good.join('\n')));
  for (let i = 0; i < good.length; i++) t.is(parseStsPolicy(good.toSpliced(i, 1).join('\n')), undefined);
  for (const bad of ['mx: *', 'mx: *.*.test', 'mx: a..test', 'mx: ü.test', '<html>']) {
    t.is(parseStsPolicy([...good, bad].join('\n')), undefined, bad);
  }
});

test('a wildcard stands for one label', (t) => {
  const policy = { mx: ['mail.example.com', '*.example.net'] };
  t.true(allowsHost(policy, 'mail.example.com'));
  t.true(allowsHost(policy, 'a.example.net'));
  for (const host of ['a.b.example.net', 'example.net', 'xexample.net', 'a.mail.example.com', '']) {
    t.false(allowsHost(policy, host), host);
  }
});

test('no text breaks the reading', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
      parseStsPolicy(text);
      stsId([[text]]);
    }),
  );
  t.pass();
});
