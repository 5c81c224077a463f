// Tests sessions of ManageSieve: capabilities, TLS, logins and their end, and what is refused.
import { SIEVE_EXTENSIONS } from '../../../src/mail-format/sieve/index.js';
import test from '../../support/test.js';
import { ALICE_EMAIL } from '../mail-node.js';
import { literal } from './client.js';
import { plain, startSieve } from './gateway.js';

const EXTENSIONS = `"SIEVE" "${SIEVE_EXTENSIONS.join(' ')}"`;

/** The reply to CAPABILITY without its last line. */
const lines = (reply: string) => reply.split('\r\n').slice(0, -1);

test('capabilities say what is possible now: with TLS, and after the login', async (t) => {
  const { connect } = await startSieve(t, { allowPlaintextAuth: false });
  const client = await connect();
  const before = ['"IMPLEMENTATION" "Mansio"', EXTENSIONS, '"MAXREDIRECTS" "4"'];
  t.deepEqual(lines(await client.command('CAPABILITY')), [...before, '"SASL" ""', '"STARTTLS"', '"VERSION" "1.0"']);
  t.regex(await client.command(`AUTHENTICATE "PLAIN" "${plain(ALICE_EMAIL, 'alice-key')}"`), /^NO \(ENCRYPT-NEEDED\)/);
  t.is(await client.command('STARTTLS'), 'OK "Begin TLS negotiation now"');
  await client.secure();
  const secured = await client.reply();
  t.deepEqual(lines(secured), [...before, '"SASL" "PLAIN"', '"VERSION" "1.0"']);
  t.true(secured.endsWith('\r\nOK "TLS negotiation successful"'));
  t.is(await client.command('STARTTLS'), 'NO "The connection has TLS"');
  t.is(await client.command(`AUTHENTICATE "PLAIN" "${plain(ALICE_EMAIL, 'alice-key')}"`), 'OK "Logged in"');
  const inside = lines(await client.command('CAPABILITY'));
  t.deepEqual(inside.slice(3), ['"SASL" "PLAIN"', `"OWNER" "${ALICE_EMAIL}"`, '"UNAUTHENTICATE"', '"VERSION" "1.0"']);
  t.is(inside[0], '"IMPLEMENTATION" "Mansio 1.2.3"');
});

test('the SASL exchange is of strings, which may be literals', async (t) => {
  const { connect } = await startSieve(t);
  const client = await connect();
  t.is(
    await client.command(`AUTHENTICATE ${literal('plain')}\r\n${literal('*')}`),
    '""\r\nNO "Authentication cancelled"',
  );
  for (const response of ['AGFs', '7', '"AGFs" "AGFs"', '"x', ''])
    t.is(await client.command(`AUTHENTICATE "PLAIN"\r\n${response}`), '""\r\nNO "Malformed response"', response);
  const response = literal(plain(ALICE_EMAIL, 'alice-key'));
  t.is(await client.command(`AUTHENTICATE "PLAIN"\r\n${response}`), '""\r\nOK "Logged in"');
  t.is(await client.command('AUTHENTICATE "PLAIN"'), 'NO "Already logged in"');
  const other = await connect();
  t.regex(await other.command('AUTHENTICATE "PLAIN"\r\n{5}'), /^""\r\nNO "Malformed response"$/);
  t.is(await other.rest(), '', 'the start of the next command is unknown');
});

test('a session is left, and the connection serves another account', async (t) => {
  const { open, connect, directory } = await startSieve(t, { limits: { connectionsPerAccount: 1 } });
  const client = await open();
  t.is(await client.command('PUTSCRIPT "main" "keep;"'), 'OK "Done"');
  const second = await connect();
  const login = `AUTHENTICATE "PLAIN" "${plain(ALICE_EMAIL, 'alice-key')}"`;
  t.is(await second.command(login), 'NO (TRYLATER) "Too many connections of your account"');
  t.is(await client.command('UNAUTHENTICATE'), 'OK "Logged out"');
  t.is(await client.command('UNAUTHENTICATE'), 'NO "Log in first"');
  t.is(await client.command('LISTSCRIPTS'), 'NO "Log in first"');
  t.is(await second.command(login), 'OK "Logged in"', 'the account has its connection back');
  t.is(await client.command(`AUTHENTICATE "PLAIN" "${plain('bob@example.test', 'bob-key')}"`), 'OK "Logged in"');
  t.is(await client.command('LISTSCRIPTS'), 'OK "Done"');
  directory.revoke('alice-key');
  t.is(await second.rest(), 'BYE "The credential is no longer valid"\r\n');
  t.is(await client.command('NOOP'), 'OK "Done"', 'the first login ended before');
});

test('a session that was left has the time for a login again', async (t) => {
  // A busy machine logs in within this time.
  const { open } = await startSieve(t, { limits: { loginMs: 5_000, stressLoginMs: 5_000 } });
  const client = await open();
  t.is(await client.command('UNAUTHENTICATE'), 'OK "Logged out"');
  t.is(await client.rest(), 'BYE "No login in time"\r\n');
});

test('NOOP returns its tag, LOGOUT ends the session, and refused commands end it when there are many', async (t) => {
  const { connect, open } = await startSieve(t, { limits: { errors: 3 } });
  const client = await connect();
  t.is(await client.command('noop'), 'OK "Done"');
  t.is(await client.command('NOOP "a\\"b"'), 'OK (TAG "a\\"b") "Done"');
  t.is(await client.command(`NOOP ${literal('a\r\nb')}`), 'OK (TAG {4}\r\na\r\nb) "Done"');
  t.is(await client.command('LOGOUT'), 'OK "Goodbye"');
  t.is(await client.rest(), '');
  const other = await open();
  t.is(await other.command('FOO'), 'NO "Unknown command"');
  t.is(await other.command('NOOP'), 'OK "Done"');
  t.is(await other.command('GETSCRIPT'), 'NO "Wrong arguments"');
  t.is(await other.command('GETSCRIPT 7'), 'NO "Wrong arguments"');
  other.write('GETSCRIPT "a" "b"\r\nNOOP\r\n');
  t.is(await other.rest(), 'NO "Wrong arguments"\r\n');
});

test('commands with literals share memory: an account has its part of it', async (t) => {
  const { open, memory } = await startSieve(t, { limits: { bufferedOctetsPerAccount: 1_000 } });
  const [client, bob] = [await open(), await open('bob-key')];
  client.write('PUTSCRIPT "a" {900+}\r\n#');
  while (memory.used === 0) await new Promise(setImmediate);
  const other = await open();
  t.regex(await other.command(`PUTSCRIPT "b" ${literal('#'.repeat(900))}`), /^NO \(TRYLATER\)/);
  t.is(await bob.command(`PUTSCRIPT "b" ${literal('#'.repeat(900))}`), 'OK "Done"');
  client.write(`${'#'.repeat(899)}\r\n`);
  t.is(await client.reply(), 'OK "Done"');
  t.is(await other.command(`PUTSCRIPT "b" ${literal('#'.repeat(900))}`), 'OK "Done"');
  other.write('PUTSCRIPT "c" {900+}\r\n#');
  while (memory.used === 0) await new Promise(setImmediate);
  other.close();
  while (memory.used > 0) await new Promise(setImmediate);
  t.is(memory.used, 0, 'a connection that is gone holds none');
});
