// Tests what SELECT, EXAMINE and STATUS ask of the owner of the mailbox: everything at once, however the folder got its name.
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from '../../../support/test.js';
import { ALICE, type ImapGateway, startImap } from '../gateway.js';

const message = (number: number) => `From: a@b.test\r\nSubject: ${number}\r\n\r\nhello\r\n`;
const QUERIES = ['folders', 'folderAt', 'folderChanges', 'folderStatus'];

/** Questions that arrive in one turn are answered together. Returns a function that takes the questions so far, one list per answer. */
function roundTrips({ mailboxes }: ImapGateway): () => string[][] {
  const trips: string[][] = [];
  let answer: Promise<void> | undefined;
  for (const name of QUERIES) {
    mailboxes.hook(name, async (_, proceed) => {
      if (answer === undefined) {
        trips.push([]);
        answer = nextTurn().then(() => {
          answer = undefined;
        });
      }
      trips.at(-1)!.push(name);
      await answer;
      return proceed();
    });
  }
  return () => trips.splice(0).map((names) => names.sort());
}

const exists = (untagged: readonly string[]) => untagged.find((line) => line.endsWith('EXISTS'));
const idOf = (untagged: readonly string[]) =>
  untagged.find((line) => line.includes('[MAILBOXID'))!.match(/\(([\w-]+)\)/)![1];

test('a mailbox is selected with one round trip, by any name, and its status is told with one', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  await client.command('CREATE Work/2026');
  const taken = roundTrips(gateway);
  const ONE = [['folderChanges', 'folders']];
  await client.command('SELECT Work/2026');
  t.deepEqual(
    taken(),
    [['folders'], ['folderChanges']],
    'the node has never seen the mailbox and does not know its id',
  );
  for (const name of ['INBOX', 'Work/2026', 'work/2026', 'sent']) {
    for (const command of ['SELECT', 'EXAMINE']) {
      t.regex((await client.command(`${command} ${name}`)).tagged, /^OK/);
      t.deepEqual(taken(), ONE, `${command} ${name}`);
    }
    await client.command('UNSELECT');
    await client.command(`STATUS ${name} (MESSAGES)`);
    t.deepEqual(taken(), [['folderStatus']], name);
  }
  for (const name of ['nothing', 'Work']) {
    t.regex((await client.command(`SELECT ${name}`)).tagged, /^NO \[NONEXISTENT\]/);
    t.deepEqual(taken(), [['folders']], name);
  }
});

test('a client that returns with QRESYNC hears of what vanished with one round trip', async (t) => {
  const gateway = await startImap(t);
  for (let i = 0; i < 4; i++) await gateway.deliver(ALICE, message(i));
  const [client, other] = [await gateway.open(), await gateway.open()];
  await client.command('ENABLE QRESYNC');
  const { untagged } = await client.command('SELECT INBOX');
  const value = (name: string) => new RegExp(`\\[${name} (\\d+)\\]`).exec(untagged.join())![1];
  const resync = `SELECT INBOX (QRESYNC (${value('UIDVALIDITY')} ${value('HIGHESTMODSEQ')}))`;
  await client.command('UNSELECT');
  await other.command('SELECT INBOX');
  await other.command('STORE 2:3 +FLAGS.SILENT \\Deleted');
  await other.command('UID EXPUNGE 2');
  const taken = roundTrips(gateway);
  const vanished = async () => (await client.command(resync)).untagged.filter((line) => line.startsWith('VANISHED'));
  t.deepEqual(await vanished(), ['VANISHED (EARLIER) 2']);
  t.deepEqual(taken(), [['folderChanges', 'folderChanges', 'folders']]);
  // A message that goes after the owner has said what vanished, and before it says what is there.
  let expunged: Promise<unknown> | undefined;
  gateway.mailboxes.hook('folderChanges', async (_, proceed) => {
    if (expunged !== undefined) return expunged.then(proceed);
    const early = proceed();
    expunged = early.then(() => gateway.mailboxes.refs.of(ALICE).ask('expunge', { folderId: 'inbox' }));
    return early;
  });
  gateway.mailboxes.hook('folders', async (_, proceed) => proceed());
  t.deepEqual(await vanished(), ['VANISHED (EARLIER) 2:3']);
});

test('the folder that has the name now is selected, and sessions on the one that had it stay there', async (t) => {
  const gateway = await startImap(t);
  const [client, other] = [await gateway.open(), await gateway.open()];
  const append = (mailbox: string) => client.command(`APPEND ${mailbox} {${message(1).length}+}\r\n${message(1)}`);
  await client.command('CREATE Work');
  await append('Work');
  const { untagged: first } = await other.command('SELECT Work');
  t.is(exists(first), '1 EXISTS');
  await client.command('RENAME Work Jobs');
  t.regex((await client.command('SELECT Work')).tagged, /^NO \[NONEXISTENT\]/);
  await client.command('CREATE Work');
  const { untagged: second } = await client.command('SELECT Work');
  t.is(exists(second), '0 EXISTS');
  t.not(idOf(second), idOf(first));
  await append('Jobs');
  t.is(exists((await other.command('NOOP')).untagged), '2 EXISTS', 'a session keeps its mailbox when that is renamed');
  t.is(exists((await client.command('NOOP')).untagged), undefined);
  const { untagged: third } = await client.command('SELECT Jobs');
  t.deepEqual([exists(third), idOf(third)], ['2 EXISTS', idOf(first)]);
  await other.command('UNSELECT');
  // The mirrors of both paths are idle now, or open; neither is taken for the other folder.
  await client.command('DELETE Work');
  await client.command('RENAME Jobs Work');
  const { untagged: fourth } = await client.command('SELECT Work');
  t.deepEqual([exists(fourth), idOf(fourth)], ['2 EXISTS', idOf(first)]);
  t.regex((await client.command('SELECT Jobs')).tagged, /^NO \[NONEXISTENT\]/);
});
