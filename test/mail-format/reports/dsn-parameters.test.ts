// Tests DSN parameters as they are received and sent.

import fc from 'fast-check';
import {
  dsnOfMail,
  dsnOfRcpt,
  mailParameters,
  rcptParameters,
} from '../../../src/mail-format/reports/dsn-parameters.js';
import { NOTIFY_CONDITIONS } from '../../../src/mail-format/reports/dsn-request.js';
import test from '../../support/test.js';

test('what a submission asks', (t) => {
  t.is(dsnOfMail(false), undefined);
  t.is(dsnOfMail({ SIZE: '10' }), undefined);
  t.deepEqual(dsnOfMail({ RET: 'hdrs', ENVID: 'QQ+20314+2B' }), { ret: 'HDRS', envid: 'QQ 314+' });
  t.is(dsnOfRcpt({}), undefined);
  t.deepEqual(dsnOfRcpt({ NOTIFY: 'never' }), { notify: [], orcpt: null });
  t.deepEqual(dsnOfRcpt({ NOTIFY: 'DELAY,SUCCESS,DELAY', ORCPT: 'rfc822;a+2Bb@c.test' }), {
    notify: ['SUCCESS', 'DELAY'],
    orcpt: 'rfc822;a+b@c.test',
  });
  t.deepEqual(dsnOfRcpt({ ORCPT: 'utf-8;+5Cx{E4}@c.test' }), { notify: null, orcpt: 'utf-8;\\x{E4}@c.test' });
});

test('what is malformed is refused', (t) => {
  for (const RET of [true, 'ALL', ''] as const) t.is(dsnOfMail({ RET }), null);
  for (const ENVID of [true, 'a+2', 'a+zz', 'a+0Ab', 'ä', 'x'.repeat(101)] as const) t.is(dsnOfMail({ ENVID }), null);
  for (const NOTIFY of [true, 'NEVER,SUCCESS', 'SUCCESS,', 'SOMETIMES'] as const) t.is(dsnOfRcpt({ NOTIFY }), null);
  for (const ORCPT of [
    true,
    'a@b.test',
    ';a@b.test',
    'rfc822;',
    'rfc822;a+00@b.test',
    `rfc822;${'x'.repeat(501)}`,
  ] as const)
    t.is(dsnOfRcpt({ ORCPT }), null, String(ORCPT));
});

test('what is passed on is read as it was given, and adds no parameter', (t) => {
  const printable = fc.string({ minLength: 1, maxLength: 30 }).filter((text) => /^[ -~]+$/.test(text));
  const read = (parameters: string): Record<string, string> => {
    t.regex(parameters, /^(?: [A-Z]+=[!-*+,-<>-~]+)*$/);
    return Object.fromEntries(
      parameters
        .split(' ')
        .slice(1)
        .map((each) => each.split('=') as [string, string]),
    );
  };
  fc.assert(
    fc.property(fc.option(printable), fc.option(fc.constantFrom('FULL' as const, 'HDRS' as const)), (envid, ret) => {
      const asked = envid === null && ret === null ? undefined : { ret, envid };
      t.deepEqual(dsnOfMail(read(mailParameters({ ret, envid }))), asked);
    }),
  );
  fc.assert(
    fc.property(fc.option(fc.subarray([...NOTIFY_CONDITIONS])), fc.option(printable), (notify, address) => {
      const orcpt = address === null ? null : `rfc822;${address}`;
      const asked = notify === null && orcpt === null ? undefined : { notify, orcpt };
      t.deepEqual(dsnOfRcpt(read(rcptParameters({ notify, orcpt }))), asked);
    }),
  );
});
