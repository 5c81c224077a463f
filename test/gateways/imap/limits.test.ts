// Tests limits of IMAP: in time, and in what a client may send. What all protocols have in common is in test/scenarios/protocols and
// test/gateways/sessions.
import { eventually } from '../../scenarios/cluster/support/eventually.js';
import test from '../../support/test.js';
import { type ImapClient, Literal } from './client.js';
import { ALICE, BOB, startImap } from './gateway.js';

const only = async (client: ImapClient): Promise<string | undefined> => (await client.rest())[0];

test('silence ends a session, in IDLE too', async (t) => {
  // Logging in must fit into this time on a busy machine.
  const gateway = await startImap(t, { limits: { idleMs: 5_000 } });
  const silent = await gateway.open();
  const idle = await gateway.open();
  idle.send('IDLE');
  t.is(await only(silent), '* BYE The connection was idle for too long');
  t.is((await idle.rest()).at(-1), '* BYE The connection was idle for too long');
});

test('commands in a row that are BAD end the connection; one that is good begins again', async (t) => {
  const gateway = await startImap(t, { limits: { errors: 3 } });
  const client = await gateway.open();
  for (const line of ['X', 'X', 'NOOP', 'X', 'X']) await client.command(line);
  client.write('a X\r\n');
  t.deepEqual(await client.rest(), ['* BYE [LIMIT] Too many errors', 'a BAD Unknown command']);
});

test('lines and literals are bounded, before the login more than after it', async (t) => {
  const limits = {
    lineOctets: 4_000,
    unauthenticatedCommandOctets: 1_000,
    literalOctets: 2_000,
    commandOctets: 10_000,
  };
  const gateway = await startImap(t, { limits });
  const client = await gateway.connect();
  t.regex((await client.command(`LOGIN ${'x'.repeat(1_000)} y`)).tagged, /^BAD /);
  client.write('a LOGIN {999999}\r\n');
  t.regex(await client.next(), /^a BAD /, 'and nothing is invited');
  const opened = await gateway.open();
  t.regex((await opened.command(`STATUS "${'x'.repeat(1_500)}" (MESSAGES)`)).tagged, /^(NO|BAD) /);
  t.is((await opened.command('NOOP')).tagged, 'OK NOOP completed');
  opened.write(`a ${'x'.repeat(5_000)}\r\n`);
  t.is((await opened.rest()).at(-1), '* BYE [LIMIT] A line is too long');
});

test('an account, and a network before the login, have a share of the memory for unfinished commands', async (t) => {
  const gateway = await startImap(t, { limits: { bufferedOctets: 3_000, bufferedOctetsPerAccount: 2_000 } });
  const refused = 'NO [LIMIT] Too many unfinished commands, try again later';
  const [first, second, bob] = [await gateway.open(), await gateway.open(), await gateway.open('bob-key')];
  const begin = (client: ImapClient, command: string, octets: number): Promise<string> =>
    client.write(`x ${command} {${octets}}\r\n`).next();
  t.is(await begin(first, 'STATUS', 1_000), '+ OK');
  t.is(await begin(second, 'STATUS', 1_000), `x ${refused}`);
  t.is(await begin(second, 'APPEND', 1_000), `x ${refused}`);
  t.is((await second.command('STATUS ', new Literal('y'.repeat(1_000)), ' (MESSAGES)')).tagged, refused);
  t.is((await second.command('NOOP')).tagged, 'OK NOOP completed', 'what was not read is passed over');
  t.is(await begin(bob, 'STATUS', 1_800), '+ OK', 'another account has its share');
  t.is(await begin(second, 'STATUS', 500), `x ${refused}`, 'all together have no more');
  const stranger = await gateway.connect();
  t.is(await begin(stranger, 'LOGIN', 500), `x ${refused}`);
  first.write(`${'y'.repeat(1_000)} (MESSAGES)\r\n`);
  t.regex(await first.next(), /^x NO \[NONEXISTENT\]/);
  t.is(await begin(second, 'APPEND', 1_000), '+ OK', 'a command that is over holds nothing');
  second.close();
  bob.close();
  await eventually('the memory of closed connections', () => gateway.context.memory.commands.used === 0);
  t.is(await begin(stranger, 'LOGIN', 1_800), '+ OK');
  stranger.close();
  await eventually('the memory of the stranger', () => gateway.context.memory.commands.used === 0);
});

test('an account has a share of the memory for searches that are kept up to date', async (t) => {
  const gateway = await startImap(t, { limits: { bufferedOctets: 600, bufferedOctetsPerAccount: 350 } });
  const message = 'Subject: s\r\n\r\ntext\r\n';
  for (let i = 0; i < 20; i++) for (const account of [ALICE, BOB]) await gateway.deliver(account, message);
  const [client, other, bob] = [await gateway.open(), await gateway.open(), await gateway.open('bob-key')];
  for (const each of [client, other, bob]) await each.command('SELECT INBOX');
  const isKept = async (of: ImapClient, key: string): Promise<boolean> => {
    const tag = of.send(`UID SEARCH RETURN (UPDATE COUNT) ${key}`);
    const { untagged, tagged } = await of.answer(tag);
    t.regex(tagged, /^OK/);
    t.true(untagged.some((line) => line.includes('COUNT')));
    return !untagged.some((line) => line.startsWith(`NO [NOUPDATE "${tag}"]`));
  };
  t.true(await isKept(client, 'ALL'));
  t.true(await isKept(client, 'SEEN'));
  t.false(await isKept(other, 'ALL'), 'the share of the account');
  t.true(await isKept(bob, 'ALL'));
  // The results of the second search grow beyond the share: that search ends, the first one goes on.
  const { untagged } = await client.command('STORE 1:20 +FLAGS (\\Seen)');
  t.is(untagged.filter((line) => line.startsWith('NO [NOUPDATE "')).length, 1);
  await gateway.deliver(ALICE, message);
  const after = (await client.command('NOOP')).untagged.filter((line) => line.startsWith('ESEARCH'));
  t.is(after.length, 1);
  t.regex(after[0]!, /ADDTO \(0 21\)/);
  await client.command('UNSELECT');
  t.true(await isKept(other, 'ALL'), 'a view that is closed holds nothing');
  for (const each of [client, other, bob]) each.close();
  await eventually('the memory of closed sessions', () => gateway.context.memory.searches.used === 0);
});
