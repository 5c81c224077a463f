// Tests logins of the mail protocols: what is cached and for how long, what removes it, and who is told.

import { NEVER, Subject } from 'rxjs';
import type { LoginClaims, Principal } from '../../src/actors/directory/protocol.js';
import { Credentials } from '../../src/auth/credentials.js';
import type { TokenVerifier } from '../../src/auth/oidc/token-verifier.js';
import { type ProtocolLogin, ProtocolLogins } from '../../src/auth/protocol-login.js';
import type { Scope } from '../../src/store/directory.js';
import test from '../support/test.js';

const ALICE = { names: ['alice@example.test'], credential: 'key' };
const TOKEN = 'eyJhbGciOiJub25lIn0.e30.x';

function principalOf(accountId: string, keyId: string | null, scopes: readonly Scope[]): Principal {
  return { accountId, email: `${accountId}@example.test`, scopes, keyId, serviceWide: false };
}

function setUp(verify: TokenVerifier['verify'] = async () => undefined) {
  const revokedKeys$ = new Subject<string>();
  const deletedAccounts$ = new Subject<string>();
  const keys = new Map([['key', principalOf('alice', 'key-id', ['smtp', 'imap'])]]);
  let lookups = 0;
  let now = 1;
  let gate: Promise<void> = Promise.resolve();
  const directory = {
    revokedKeys$,
    deletedAccounts$,
    missedChanges$: NEVER,
    async authenticate(apiKey: string) {
      lookups++;
      const found = keys.get(apiKey);
      await gate;
      return found;
    },
    noteUse() {},
    login: async ({ subject }: LoginClaims) => ({ principal: principalOf(subject, null, ['app']) }),
    isAddressOf: async (accountId: string, address: string) => address === `${accountId}@example.test`,
  };
  const tokens = {
    verify,
    userInfo: async () => ({ email: undefined, emailVerified: undefined, name: undefined }),
  };
  const credentials = new Credentials({ directory, tokens, now: () => now });
  const logins = new ProtocolLogins({ directory, credentials });
  const ended: boolean[] = [];
  const watched = { principal: principalOf('alice', 'key-id', ['smtp']) } as ProtocolLogin;
  logins.ended$.subscribe((isOver) => ended.push(isOver(watched)));
  return {
    logins,
    keys,
    ended,
    revoke: (id: string) => revokedKeys$.next(id),
    deleteAccount: (id: string) => deletedAccounts$.next(id),
    lookups: () => lookups,
    pass: (ms: number) => {
      now += ms;
    },
    hold(until: Promise<void>) {
      gate = until;
    },
  };
}

test('a key is looked up once in 30 s, whatever it is used for', async (t) => {
  const { logins, lookups, pass, keys } = setUp();
  const first = await logins.open(ALICE, ['smtp']);
  if (first.kind !== 'open') return t.fail();
  t.is(first.login.principal.accountId, 'alice');
  t.is((await logins.open(ALICE, ['imap'])).kind, 'open');
  t.is((await logins.open(ALICE, ['pop3'])).kind, 'scopeMissing');
  t.is((await logins.open({ ...ALICE, names: ['bob@example.test'] }, ['smtp'])).kind, 'wrong');
  t.true(await logins.holds(first.login));
  t.is(lookups(), 1);
  // A change without a notice is found when the time has passed.
  keys.clear();
  pass(29_000);
  t.true(await logins.holds(first.login));
  pass(2_000);
  t.false(await logins.holds(first.login));
  t.is((await logins.open(ALICE, ['smtp'])).kind, 'wrong');
});

test('wrong keys are not remembered', async (t) => {
  const { logins, keys, lookups } = setUp();
  const shown = { names: [], credential: 'later' };
  t.is((await logins.open(shown, ['smtp'])).kind, 'wrong');
  keys.set('later', principalOf('alice', 'later-id', ['smtp']));
  t.is((await logins.open(shown, ['smtp'])).kind, 'open');
  t.is((await logins.open({ names: [], credential: 'x'.repeat(9000) }, ['smtp'])).kind, 'wrong');
  t.is(lookups(), 2);
});

test('a revoked key is forgotten at once, and sessions are told', async (t) => {
  const { logins, keys, revoke, ended, lookups } = setUp();
  t.is((await logins.open(ALICE, ['smtp'])).kind, 'open');
  revoke('another');
  t.is((await logins.open(ALICE, ['smtp'])).kind, 'open');
  t.is(lookups(), 1);
  keys.clear();
  revoke('key-id');
  t.is((await logins.open(ALICE, ['smtp'])).kind, 'wrong');
  t.deepEqual(ended, [false, true]);
});

test('a key revoked while it is looked up opens nothing', async (t) => {
  const { logins, keys, revoke, hold } = setUp();
  let go = () => {};
  hold(
    new Promise((resolve) => {
      go = resolve;
    }),
  );
  const opening = logins.open(ALICE, ['smtp']);
  keys.clear();
  revoke('key-id');
  go();
  t.is((await opening).kind, 'wrong');
  t.is((await logins.open(ALICE, ['smtp'])).kind, 'wrong');
});

test('a deleted account is forgotten, and its sessions are told', async (t) => {
  const { logins, keys, deleteAccount, ended } = setUp();
  t.is((await logins.open(ALICE, ['smtp'])).kind, 'open');
  keys.clear();
  deleteAccount('alice');
  t.is((await logins.open(ALICE, ['smtp'])).kind, 'wrong');
  t.deepEqual(ended, [true]);
});

test('tokens open all protocols of their account until they expire', async (t) => {
  let expiresAt = Date.now() + 60_000;
  const { logins } = setUp(async (token) =>
    token === TOKEN
      ? { issuer: 'i', subject: 'anna', email: undefined, emailVerified: undefined, name: undefined, expiresAt }
      : undefined,
  );
  const shown = { names: ['anna@example.test'], credential: TOKEN };
  for (const scope of ['smtp', 'imap', 'pop3'] as const) t.is((await logins.open(shown, [scope])).kind, 'open');
  t.is((await logins.open({ ...shown, names: ['alice@example.test'] }, ['smtp'])).kind, 'wrong');
  t.is((await logins.open({ ...shown, credential: `${TOKEN}x` }, ['smtp'])).kind, 'wrong');
  expiresAt = Date.now() - 1;
  const { logins: later } = setUp(async () => ({
    ...{ issuer: 'i', subject: 'anna', email: undefined, emailVerified: undefined, name: undefined },
    expiresAt,
  }));
  t.is((await later.open(shown, ['smtp'])).kind, 'wrong');
});
