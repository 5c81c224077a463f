// Tests what is cached of credentials, and what ends that: a revocation, a deleted account, missed notices, expiry.

import { Subject } from 'rxjs';
import type { LoginClaims, Principal } from '../../src/actors/directory/protocol.js';
import { Credentials } from '../../src/auth/credentials.js';
import test from '../support/test.js';

const TOKEN = 'eyJhbGciOiJub25lIn0.e30.x';
const CLAIMS = { issuer: 'i', subject: 'anna', email: undefined, emailVerified: undefined, name: undefined };

function principalOf(accountId: string, keyId: string | null): Principal {
  return { accountId, email: `${accountId}@example.test`, scopes: ['app'], keyId, serviceWide: false };
}

function setUp(expiresAt = Date.now() + 60_000) {
  const keys = new Map([
    ['first', principalOf('alice', 'first-id')],
    ['second', principalOf('bob', 'second-id')],
  ]);
  const asked: string[] = [];
  const noted: string[] = [];
  const notices = {
    revokedKeys$: new Subject<string>(),
    deletedAccounts$: new Subject<string>(),
    missedChanges$: new Subject<void>(),
  };
  let now = 1;
  const gates: Promise<void>[] = [];
  const directory = {
    ...notices,
    async authenticate(key: string) {
      asked.push(key);
      const found = keys.get(key);
      await gates.shift();
      return found;
    },
    login: async ({ subject }: LoginClaims) => ({ principal: principalOf(subject, null) }),
    noteUse: (keyId: string) => void noted.push(keyId),
  };
  const tokens = {
    async verify(token: string) {
      asked.push(token);
      return { ...CLAIMS, expiresAt };
    },
    userInfo: async () => ({ email: undefined, emailVerified: undefined, name: undefined }),
  };
  const leases: { period: number | undefined } = { period: 0 };
  const credentials = new Credentials({ directory, tokens, now: () => now, period: () => leases.period });
  const remember = async (...list: string[]) => {
    for (const credential of list) await credentials.identify(credential);
  };
  const isKnown = (credential: string) => credentials.known(credential) !== undefined;
  return {
    credentials,
    keys,
    asked,
    noted,
    notices,
    gates,
    leases,
    remember,
    isKnown,
    pass: (ms: number) => (now += ms),
  };
}

test('a credential that opened an account is known without a look-up for 30 s, and each use is noted', async (t) => {
  const { credentials, asked, noted, pass, isKnown } = setUp();
  t.false(isKnown('first'));
  const first = await credentials.identify('first');
  t.deepEqual(credentials.known('first'), {
    kind: 'known',
    principal: principalOf('alice', 'first-id'),
    expiresAt: undefined,
  });
  t.deepEqual(await credentials.identify('first'), first);
  t.deepEqual(asked, ['first']);
  t.deepEqual(noted, ['first-id', 'first-id'], 'the directory itself notes what it looks up');
  pass(30_001);
  t.false(isKnown('first'));
});

test('what opens nothing is looked up each time', async (t) => {
  const { credentials, asked, isKnown } = setUp();
  for (let i = 0; i < 2; i++) t.is((await credentials.identify('wrong')).kind, 'invalid');
  t.false(isKnown('wrong'));
  t.deepEqual(asked, ['wrong', 'wrong']);
});

test('a revoked key is forgotten at once, and no other', async (t) => {
  const { notices, remember, isKnown } = setUp();
  await remember('first', 'second');
  notices.revokedKeys$.next('first-id');
  t.false(isKnown('first'));
  t.true(isKnown('second'));
});

test('a key that was looked up again is forgotten by its revocation, and by the deletion of its account', async (t) => {
  for (const end of [
    ({ revokedKeys$ }) => revokedKeys$.next('first-id'),
    ({ deletedAccounts$ }) => deletedAccounts$.next('alice'),
  ] satisfies ((notices: ReturnType<typeof setUp>['notices']) => void)[]) {
    const { notices, remember, isKnown, pass } = setUp();
    await Promise.all([remember('first'), remember('first')]);
    pass(30_001);
    await remember('first');
    pass(1);
    await remember('first', TOKEN);
    end(notices);
    t.deepEqual(['first', TOKEN].map(isKnown), [false, true]);
    await Promise.all([remember('first'), remember('first')]);
    end(notices);
    t.false(isKnown('first'));
  }
});

test('a deleted account takes keys and tokens along', async (t) => {
  const { notices, remember, isKnown } = setUp();
  await remember('first', 'second', TOKEN);
  notices.deletedAccounts$.next('alice');
  notices.deletedAccounts$.next('anna');
  t.deepEqual(['first', 'second', TOKEN].map(isKnown), [false, true, false]);
});

test('when notices were missed nothing is known', async (t) => {
  const { notices, remember, isKnown } = setUp();
  await remember('first', 'second', TOKEN);
  notices.missedChanges$.next();
  t.deepEqual(['first', 'second', TOKEN].map(isKnown), [false, false, false]);
  await remember('first');
  t.true(isKnown('first'));
});

test('when notices have ended nothing is remembered any more', async (t) => {
  const { notices, remember, isKnown } = setUp();
  await remember('first');
  notices.revokedKeys$.error(new Error('the watch broke'));
  await remember('second');
  t.deepEqual(['first', 'second'].map(isKnown), [false, false]);
});

test('nothing is known while leases are not current, and nothing of the time before', async (t) => {
  const { leases, remember, isKnown } = setUp();
  await remember('first');
  leases.period = undefined;
  await remember('second');
  t.deepEqual(['first', 'second'].map(isKnown), [false, false]);
  leases.period = 0;
  t.deepEqual(['first', 'second'].map(isKnown), [false, false]);
  await remember('first');
  leases.period = 1;
  t.false(isKnown('first'), 'they lapsed and were renewed while nobody asked');
});

test('a look-up that a notice crosses is not remembered', async (t) => {
  for (const cross of [
    ({ revokedKeys$ }) => revokedKeys$.next('first-id'),
    ({ deletedAccounts$ }) => deletedAccounts$.next('alice'),
    ({ missedChanges$ }) => missedChanges$.next(),
  ] satisfies ((notices: ReturnType<typeof setUp>['notices']) => void)[]) {
    const { credentials, notices, gates, isKnown } = setUp();
    let go = () => {};
    gates.push(
      new Promise((resolve) => {
        go = resolve;
      }),
    );
    const identified = credentials.identify('first');
    cross(notices);
    go();
    await identified;
    t.false(isKnown('first'));
  }
});

test('a token is known until it expires', async (t) => {
  const soon = setUp(Date.now() + 60_000);
  await soon.remember(TOKEN);
  t.true(soon.isKnown(TOKEN));
  const past = setUp(Date.now() - 1);
  await past.remember(TOKEN);
  t.false(past.isKnown(TOKEN));
});
