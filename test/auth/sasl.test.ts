// Tests SASL exchanges as functions: they return any credentials that were sent, and no input makes them fail in another way.

import fc from 'fast-check';
import { beginExchange, decodeBase64, failureChallenge, MECHANISMS, mechanismOf } from '../../src/auth/sasl.js';
import test from '../support/test.js';

const presented = (names: readonly string[], credential: string) =>
  ({ kind: 'presented', presented: { names, credential } }) as const;
/** Excludes control characters, which separate the fields, and text that UTF-8 cannot encode. */
const text = fc
  .string({ unit: 'binary', minLength: 1 })
  .map((any) =>
    [...any].map((character) => (/[\p{Cs}]/u.test(character) || character < ' ' ? 'x' : character)).join(''),
  );
const token = fc.stringMatching(/^[!-~]+$/);

test('mechanisms by name, in any case', (t) => {
  t.is(mechanismOf('plain'), 'PLAIN');
  t.is(mechanismOf('OAuthBearer'), 'OAUTHBEARER');
  t.is(mechanismOf('CRAM-MD5'), undefined);
});

test('PLAIN and LOGIN give back names and credential', (t) => {
  fc.assert(
    fc.property(text, text, fc.option(text), (name, credential, other) => {
      const names = [...new Set([...(other === null ? [] : [other]), name])];
      const plain = beginExchange('PLAIN', Buffer.from(`${other ?? ''}\0${name}\0${credential}`));
      t.deepEqual(plain, presented(names, credential));
      const asked = beginExchange('LOGIN', Buffer.from(name));
      if (asked.kind !== 'challenge') return t.fail();
      t.is(asked.text, 'Password:');
      t.deepEqual(asked.next(Buffer.from(credential)), presented([name], credential));
    }),
  );
});

test('OAUTHBEARER and XOAUTH2 give back name and token', (t) => {
  fc.assert(
    fc.property(text, token, (name, credential) => {
      const saslName = name.replaceAll('=', '=3D').replaceAll(',', '=2C');
      const oauth = Buffer.from(`n,a=${saslName},\u0001host=x\u0001auth=Bearer ${credential}\u0001\u0001`);
      t.deepEqual(beginExchange('OAUTHBEARER', oauth), presented([name], credential));
      const xoauth2 = Buffer.from(`user=${name}\u0001auth=bearer ${credential}\u0001\u0001`);
      t.deepEqual(beginExchange('XOAUTH2', xoauth2), presented([name], credential));
    }),
  );
});

test('whatever a client responds, it has presented something or is malformed', (t) => {
  const response = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: 'binary' }).map((any) => Buffer.from(any)),
  );
  fc.assert(
    fc.property(fc.constantFrom(...MECHANISMS), fc.array(response, { minLength: 1 }), (mechanism, responses) => {
      let step = beginExchange(mechanism, undefined);
      for (const octets of responses) if (step.kind === 'challenge') step = step.next(Buffer.from(octets));
      t.true(['challenge', 'presented', 'malformed'].includes(step.kind));
    }),
  );
  t.deepEqual(beginExchange('PLAIN', Buffer.from('\0\0x')), { kind: 'malformed' });
  t.deepEqual(beginExchange('PLAIN', Buffer.from('a\0b')), { kind: 'malformed' });
  t.deepEqual(beginExchange('OAUTHBEARER', Buffer.from('n,,\u0001host=x\u0001\u0001')), { kind: 'malformed' });
  t.deepEqual(beginExchange('XOAUTH2', Buffer.from('user=a\u0001auth=Basic x\u0001\u0001')), { kind: 'malformed' });
});

test('base64 is read strictly', (t) => {
  fc.assert(
    fc.property(fc.uint8Array(), (octets) => {
      const encoded = Buffer.from(octets).toString('base64');
      t.deepEqual(decodeBase64(encoded), Buffer.from(octets));
    }),
  );
  for (const bad of ['a', 'ab', 'abc', 'a===', 'YQ= =', ' YQ==', 'YQ==\n', 'Y-_=', '===='])
    t.is(decodeBase64(bad), undefined, bad);
});

test('only mechanisms with tokens say why', (t) => {
  t.is(failureChallenge('PLAIN', 'invalidToken'), undefined);
  t.is(failureChallenge('LOGIN', 'insufficientScope'), undefined);
  t.deepEqual(JSON.parse(failureChallenge('OAUTHBEARER', 'insufficientScope')!), { status: 'insufficient_scope' });
  t.deepEqual(JSON.parse(failureChallenge('XOAUTH2', 'invalidToken')!), { status: '401', schemes: 'bearer' });
});
