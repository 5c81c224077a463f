// Tests the login of the mail protocols: the outcome of an attempt, its single count and log line, and the delay of a refusal.
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { NEVER } from 'rxjs';
import type { Principal } from '../../src/actors/directory/protocol.js';
import { Credentials } from '../../src/auth/credentials.js';
import { type GuardLimits, LoginGuard } from '../../src/auth/login-guard.js';
import { type LoginAttempt, SignIn } from '../../src/auth/sign-in.js';
import test from '../support/test.js';
import { until } from '../support/until.js';

const ALICE = 'alice@example.test';
const OWNER: Principal = { accountId: 'alice', email: ALICE, scopes: ['imap'], keyId: 'k', serviceWide: false };

function setUp(t: ExecutionContext, limits: Partial<GuardLimits> = {}) {
  // Delayed replies alone do not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  t.teardown(() => clearInterval(alive));
  const counted: string[] = [];
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const directory = {
    fault: undefined as Error | undefined,
    revokedKeys$: NEVER,
    deletedAccounts$: NEVER,
    missedChanges$: NEVER,
    noteUse() {},
    async authenticate(key: string) {
      if (this.fault !== undefined) throw this.fault;
      return key === 'right' ? OWNER : undefined;
    },
    login: async () => ({ principal: OWNER }),
    isAddressOf: async (_: string, name: string) => name === ALICE,
  };
  const signIn = new SignIn({
    directory,
    credentials: new Credentials({ directory }),
    guard: new LoginGuard({ delayMs: 0, ...limits }),
    meter: { attempted: (protocol, outcome) => void counted.push(`${protocol} ${outcome}`) },
  });
  const attempt = (credential: string, more: Partial<LoginAttempt> = {}) =>
    signIn.attempt({
      protocol: 'imap',
      presented: { names: [ALICE], credential },
      scopes: ['imap'],
      remoteAddress: '192.0.2.1',
      isSecure: true,
      admit: () => true,
      log,
      ...more,
    });
  return { attempt, directory, counted, logged };
}

test('each attempt has one count and one log line', async (t) => {
  const { attempt, directory, counted, logged } = setUp(t, { failuresPerNetwork: 1 });
  t.like(await attempt('right', { remoteAddress: '192.0.2.9' }), { kind: 'open', login: { credential: 'right' } });
  t.like(await attempt('right', { admit: (accountId) => accountId !== 'alice' }), { kind: 'full', accountId: 'alice' });
  t.is(
    (await attempt('right', { protocol: 'pop3', scopes: ['pop3'], remoteAddress: '192.0.2.2' })).kind,
    'scopeMissing',
  );
  const presented = { names: ['carol@example.test', 'a key in the wrong place'], credential: 'guess' };
  t.is((await attempt('', { presented, remoteAddress: '192.0.2.3' })).kind, 'wrong');
  t.is((await attempt('', { presented, remoteAddress: '192.0.2.3' })).kind, 'limited');
  directory.fault = new Error('down');
  t.like(await attempt('another'), { kind: 'fault', error: directory.fault });
  t.deepEqual(counted, ['imap open', 'imap full', 'pop3 scopeMissing', 'imap wrong', 'imap limited', 'imap fault']);
  t.deepEqual(
    logged.map(({ msg, reason, names, accountId, remoteAddress }) => [msg, reason ?? accountId, names, remoteAddress]),
    [
      ['authenticated', 'alice', undefined, '192.0.2.9'],
      ['authentication refused', 'full', undefined, '192.0.2.1'],
      ['authentication refused', 'scopeMissing', [ALICE], '192.0.2.2'],
      ['authentication refused', 'wrong', ['carol@example.test'], '192.0.2.3'],
      ['authentication refused', 'limited', ['carol@example.test'], '192.0.2.3'],
      ['credentials could not be checked', undefined, undefined, '192.0.2.1'],
    ],
  );
  t.false(JSON.stringify(logged).includes('guess'));
});

test('a refusal waits, and a right credential does not', async (t) => {
  const { attempt, logged } = setUp(t, { delayMs: 600_000 });
  let isOver = false;
  void attempt('wrong').then(() => {
    isOver = true;
  });
  t.is((await attempt('right')).kind, 'open');
  await until(() => logged.length >= 2);
  t.is((await attempt('right')).kind, 'open');
  t.false(isOver);
});

test('a right credential is let in however many wrong ones came', async (t) => {
  const { attempt } = setUp(t, { failuresPerNetwork: 2, failuresPerName: 2, delaysPerHolder: 3 });
  for (let i = 0; i < 10; i++) await attempt(`guess ${i}`);
  t.is((await attempt('guess')).kind, 'limited');
  t.is((await attempt('right')).kind, 'open', 'never seen there before');
  t.is((await attempt('right', { remoteAddress: '203.0.113.7' })).kind, 'open', 'nor there');
});
