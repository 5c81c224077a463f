// Sends random and damaged sessions of two accounts to a whole server: it must not crash, hang, report a bug, show one account the
// other's mail, or delete but by QUIT. Each client sends all at once, in random pieces, closes its side, and reads up to the end.
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { ALICE, ALICE_EMAIL, BOB, BOB_EMAIL, startPop3 } from './gateway.js';

const RUNS = runs(100);
const COMMANDS: readonly string[] = [
  ...[
    'STAT',
    'LIST',
    'LIST 1',
    'UIDL',
    'UIDL 2',
    'RETR 1',
    'RETR 2',
    'RETR 3',
    'TOP 1 0',
    'TOP 2 99',
    'DELE 1',
    'DELE 2',
  ],
  ...[
    'RSET',
    'NOOP',
    'CAPA',
    'LANG',
    'LANG *',
    'UTF8',
    'STLS x',
    'AUTH',
    'AUTH PLAIN\r\n*',
    'AUTH PLAIN =',
    'XYZZY',
    '',
  ],
  ...[`USER ${BOB_EMAIL}`, 'PASS bad', 'USER', 'PASS', 'LIST 0', 'RETR 99999999999', 'TOP 1', 'DELE -1'],
];

const session = fc.record({
  isBob: fc.boolean(),
  commands: fc.array(fc.constantFrom(...COMMANDS), { maxLength: 30 }),
  damage: fc.array(
    fc.record({
      at: fc.nat(600),
      length: fc.nat(4),
      put: fc.oneof(fc.constantFrom('\r', '\n', '\0', ' ', '\u00ff', '\r\n'), fc.string({ maxLength: 4 })),
    }),
    { maxLength: 3 },
  ),
  cuts: fc.array(fc.nat(600), { maxLength: 4 }),
});

test('damaged sessions end without a bug, and delete nothing', async (t) => {
  const gateway = await startPop3(t, { limits: { errors: 1_000, authFailures: 1_000 } });
  for (const account of [ALICE, BOB]) {
    await gateway.deliver(account, `Subject: of ${account}\r\n\r\n.\r\n..x\r\n`);
    await gateway.deliver(account, `Subject: second of ${account}\n\n.\nno end`);
  }
  await fc.assert(
    fc.asyncProperty(session, async ({ isBob, commands, damage, cuts }) => {
      const [account, email, key] = isBob ? [BOB, BOB_EMAIL, 'bob-key'] : [ALICE, ALICE_EMAIL, 'alice-key'];
      let script = commands.join('\r\n');
      for (const { at, length, put } of damage) script = script.slice(0, at) + put + script.slice(at + length);
      // Damage must not produce a QUIT, which would delete marked messages.
      const octets = Buffer.from(`USER ${email}\r\nPASS ${key}\r\n${script.replace(/quit/gi, '')}\r\n`, 'latin1');
      const client = await gateway.connect();
      const ends = [...cuts.filter((cut) => cut < octets.length).sort((a, b) => a - b), octets.length];
      for (const [i, end] of ends.entries()) {
        client.write(octets.subarray(ends[i - 1] ?? 0, end));
        await setImmediate();
      }
      client.socket.end();
      const received = await client.rest();
      t.true(received.startsWith('+OK Send the password\r\n+OK Logged in, 2 messages'), received);
      t.false(received.includes(`of ${account === ALICE ? BOB : ALICE}`));
      for (const owner of [ALICE, BOB]) t.is(gateway.mailboxes.account(owner).emails.size, 2);
    }),
    { numRuns: RUNS },
  );
  const bugs = gateway.logged.filter(({ level }) => Number(level) >= 50);
  t.deepEqual(bugs, []);
});
