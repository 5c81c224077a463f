// Tests searches that are kept up to date (RFC 5267): additions and removals are told in the right order among EXISTS and EXPUNGE,
// also in IDLE, and the client's list equals the results of a new search.
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { eventually } from '../../../scenarios/cluster/support/eventually.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import type { ImapClient } from '../client.js';
import { ALICE, type ImapGateway, startImap } from '../gateway.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);

async function inbox(
  t: ExecutionContext,
  count: number,
): Promise<{
  gateway: ImapGateway;
  client: ImapClient;
  deliver: (subject: string) => Promise<string>;
  /** Returns the untagged responses of a command that succeeds. */
  ask: (command: string) => Promise<readonly string[]>;
}> {
  const gateway = await startImap(t);
  let delivered = 0;
  const deliver = (subject: string) =>
    gateway.deliver(ALICE, `Subject: ${subject}\r\n\r\ntext\r\n`, START + delivered++ * DAY_MS);
  for (let i = 1; i <= count; i++) await deliver(`s${i}${i}`);
  const client = await gateway.open();
  t.teardown(() => client.close());
  await client.command('SELECT INBOX');
  return {
    gateway,
    client,
    deliver,
    async ask(command) {
      const { tagged, untagged } = await client.command(command);
      t.true(tagged.startsWith('OK'), tagged);
      return untagged;
    },
  };
}

const esearches = (untagged: readonly string[]): readonly string[] =>
  untagged.filter((line) => /ESEARCH|EXPUNGE|EXISTS/.test(line)).map((line) => line.replace(/\(TAG "a\d+"\)/, 'tag'));

test('flags that change, messages that come and go, are told of as results', async (t) => {
  const { ask, deliver } = await inbox(t, 6);
  t.deepEqual(esearches(await ask('SEARCH RETURN (UPDATE) BODY text SEEN')), ['ESEARCH tag']);
  t.deepEqual(esearches(await ask('STORE 1,2,5 +FLAGS (\\Seen)')), ['ESEARCH tag ADDTO (0 1:2,5)']);
  t.deepEqual(esearches(await ask('STORE 1,2 -FLAGS.SILENT (\\Seen)')), ['ESEARCH tag REMOVEFROM (0 1:2)']);
  await ask('STORE 3:6 +FLAGS (\\Deleted)');
  t.deepEqual(esearches(await ask('EXPUNGE')), [
    'ESEARCH tag REMOVEFROM (0 5)',
    '6 EXPUNGE',
    '5 EXPUNGE',
    '4 EXPUNGE',
    '3 EXPUNGE',
  ]);
  await ask('UID SEARCH RETURN (UPDATE COUNT) SUBJECT new');
  await deliver('new');
  t.deepEqual(esearches(await ask('NOOP')), ['3 EXISTS', 'ESEARCH tag UID ADDTO (0 7)']);
});

test('updates end with CANCELUPDATE and with the selected mailbox', async (t) => {
  const { client, ask } = await inbox(t, 3);
  const tag = client.send('SEARCH RETURN (UPDATE ALL) SEEN');
  await client.answer(tag);
  t.deepEqual(await ask(`CANCELUPDATE "${tag}"`), []);
  t.deepEqual(esearches(await ask('STORE 1 +FLAGS (\\Seen)')), []);
  t.true((await client.command(`CANCELUPDATE "${tag}"`)).tagged.startsWith('BAD'));
  await ask('SEARCH RETURN (UPDATE) SEEN');
  await ask('SELECT INBOX');
  t.deepEqual(esearches(await ask('STORE 2 +FLAGS (\\Seen)')), []);
});

test('few searches are kept up to date, none by sequence numbers, and each has a tag of its own', async (t) => {
  const { client, ask } = await inbox(t, 3);
  const noUpdate = (untagged: readonly string[]) =>
    untagged.filter((line) => /^NO \[NOUPDATE "a\d+"\]/.test(line)).length;
  const numbered = await ask('SEARCH RETURN (UPDATE COUNT) 1:2');
  t.is(noUpdate(numbered), 1);
  t.true(numbered.some((line) => line.endsWith('COUNT 2')));
  for (let i = 0; i < 5; i++) t.is(noUpdate(await ask('SEARCH RETURN (UPDATE) SEEN')), 0);
  t.is(noUpdate(await ask('SEARCH RETURN (UPDATE) SEEN')), 1);
  client.write('same UID SEARCH RETURN (COUNT) ALL\r\n');
  t.true((await client.answer('same')).tagged.startsWith('OK'));
  await ask('SELECT INBOX');
  for (const expected of ['OK', 'BAD']) {
    client.write('same UID SEARCH RETURN (UPDATE) ALL\r\n');
    t.true((await client.answer('same')).tagged.startsWith(expected));
  }
});

test('a search that has become too large ends, and the client is told', async (t) => {
  const { gateway, client, ask } = await inbox(t, 1);
  const tag = client.send('UID SEARCH RETURN (UPDATE) BODY "zoe was here"');
  await client.answer(tag);
  let asked = 0;
  gateway.mailboxes.hook('searchFolder', () => {
    asked++;
    return { refusal: 'searchTooLarge' };
  });
  // Short texts would be read instead of searched in the index.
  const long = `Subject: Zoë 💌\r\n\r\n${'zoe was here\r\n'.repeat(50_000)}`;
  for (let i = 0; i < 8; i++) await gateway.deliver(ALICE, long, START + i);
  const ended = (untagged: readonly string[]) => untagged.filter((line) => line.startsWith(`NO [NOUPDATE "${tag}"]`));
  t.is(ended(await ask('NOOP')).length, 1);
  t.is(asked, 1);
  await gateway.deliver(ALICE, long, START);
  t.deepEqual(ended(await ask('NOOP')), []);
  t.is(asked, 1);
  t.true((await client.command(`CANCELUPDATE "${tag}"`)).tagged.startsWith('BAD'));
});

test('in IDLE results are told of as they change', async (t) => {
  const { gateway, client, ask, deliver } = await inbox(t, 2);
  await ask('UID SEARCH RETURN (UPDATE) OR SUBJECT new DELETED');
  const tag = client.send('IDLE');
  t.is(await client.next(), '+ idling');
  await deliver('new');
  const told: string[] = [];
  const until = async (pattern: RegExp): Promise<void> => {
    for (let line = ''; !pattern.test(line); told.push(line)) line = await client.next();
  };
  await until(/ADDTO \(0 3\)/);
  const other = await gateway.open();
  await other.command('SELECT INBOX');
  await other.command('STORE 1 +FLAGS (\\Deleted)');
  await until(/ADDTO \(0 1\)/);
  await other.command('EXPUNGE');
  await until(/1 EXPUNGE/);
  t.regex(told.at(-2)!, /UID REMOVEFROM \(0 1\)$/);
  client.write('DONE\r\n');
  t.true((await client.answer(tag)).tagged.startsWith('OK'));
  other.close();
});

test('a search that cannot begin is begun again with the next change, and neither a command nor IDLE fails', async (t) => {
  const { gateway, client, ask, deliver } = await inbox(t, 1);
  await ask('UID SEARCH RETURN (UPDATE) SUBJECT new');
  const { searchResults } = gateway.context;
  const warned = () => gateway.logged.filter(({ msg }) => msg === 'a search could not be kept up to date').length;
  let isBroken = true;
  Object.defineProperty(gateway.context, 'searchResults', {
    get() {
      if (isBroken) throw new Error('broken');
      return searchResults;
    },
  });
  await deliver('new');
  t.deepEqual(esearches(await ask('NOOP')), ['2 EXISTS']);
  t.is(warned(), 1);
  const tag = client.send('IDLE');
  while ((await client.next()) !== '+ idling');
  await deliver('new');
  while ((await client.next()) !== '* 3 EXISTS');
  await eventually('the failure of the search', () => warned() > 1);
  isBroken = false;
  await deliver('new');
  let told = '';
  while (!told.includes('ADDTO')) told = await client.next();
  t.regex(told, / UID ADDTO \(0 2:4\)$/);
  client.write('DONE\r\n');
  t.true((await client.answer(tag)).tagged.startsWith('OK'));
});

/** Applies what a client is told to its list of results. */
function apply(results: number[], untagged: readonly string[], isUid: boolean): number[] {
  let kept = [...results];
  for (const line of untagged) {
    const expunged = /^(\d+) EXPUNGE$/.exec(line);
    if (expunged !== null && !isUid) kept = kept.map((seq) => (seq > Number(expunged[1]) ? seq - 1 : seq));
    for (const [, item, pairs = ''] of line.matchAll(/(ADDTO|REMOVEFROM) \(([^)]*)\)/g)) {
      const parts = pairs.split(' ');
      for (let i = 0; i < parts.length; i += 2) {
        const place = Number(parts[i]);
        const numbers = numbersOf(parts[i + 1]!);
        if (item === 'ADDTO') kept.splice(place - 1, 0, ...numbers);
        else {
          const removed = kept.splice(place - 1, numbers.length);
          if (removed.join() !== numbers.join()) throw new Error(`${line}: ${removed} are there`);
        }
      }
    }
  }
  return kept;
}

const numbersOf = (set: string): number[] =>
  set.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split(':').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });

test('whatever changes, the results of SORT that the client keeps are what a new SORT finds', async (t) => {
  const { client, ask, deliver } = await inbox(t, 4);
  const change = fc.constantFrom('flag', 'unflag', 'silent', 'deliver', 'expunge');
  const history = fc.array(fc.tuple(change, fc.nat(50)), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(history, fc.boolean(), async (changes, isUid) => {
      const uid = isUid ? 'UID ' : '';
      const program = '(REVERSE SUBJECT) UTF-8 OR FLAGGED SUBJECT "1"';
      let results: number[] = [];
      const run = async (command: string): Promise<readonly string[]> => {
        const untagged = await ask(command);
        results = apply(results, untagged, isUid);
        return untagged;
      };
      const numbers = async (command: string): Promise<number[]> => {
        const found = (await run(command)).find((line) => /^(SORT|SEARCH)/.test(line))!;
        return found.split(' ').slice(1).map(Number);
      };
      results = await numbers(`${uid}SORT ${program}`);
      const tag = client.send(`${uid}SORT RETURN (UPDATE) ${program}`);
      await client.answer(tag);
      for (const [what, n] of changes) {
        const { length } = await numbers('SEARCH ALL');
        const seq = 1 + (n % Math.max(1, length));
        if (what === 'deliver' || length === 0) await deliver(`subject ${n}`);
        else if (what === 'expunge') await run(`STORE ${seq} +FLAGS.SILENT (\\Deleted)`);
        else
          await run(
            `STORE ${seq} ${what === 'unflag' ? '-' : '+'}FLAGS${what === 'silent' ? '.SILENT' : ''} (\\Flagged)`,
          );
        await run(what === 'expunge' ? 'EXPUNGE' : 'NOOP');
      }
      t.deepEqual(results, await numbers(`${uid}SORT ${program}`));
      await run(`CANCELUPDATE "${tag}"`);
    }),
    { numRuns: runs(40), endOnFailure: true },
  );
});
