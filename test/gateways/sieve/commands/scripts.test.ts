// Tests the commands on scripts: they are checked, stored, listed, activated, renamed and deleted, with the response codes of RFC 5804.
import test from '../../../support/test.js';
import { BOB } from '../../mail-node.js';
import { literal } from '../client.js';
import { startSieve } from '../gateway.js';

const KEEP = 'keep;\r\n';

test('a script is stored, listed, read, activated, renamed and deleted', async (t) => {
  const { open } = await startSieve(t);
  const client = await open();
  t.is(await client.command('LISTSCRIPTS'), 'OK "Done"');
  t.is(await client.command(`PUTSCRIPT "main" ${literal(KEEP)}`), 'OK "Done"');
  t.is(await client.command(`putscript ${literal('ä "x"\\')} "# ü"`), 'OK "Done"');
  t.is(await client.command('SETACTIVE "main"'), 'OK "Done"');
  t.is(await client.command('LISTSCRIPTS'), '"main" ACTIVE\r\n"ä \\"x\\"\\\\"\r\nOK "Done"');
  t.is(await client.command('GETSCRIPT "main"'), `{7}\r\n${KEEP}\r\nOK "Done"`);
  t.is(await client.command('GETSCRIPT "ä \\"x\\"\\\\"'), '{4}\r\n# ü\r\nOK "Done"');
  t.is(await client.command('DELETESCRIPT "main"'), 'NO (ACTIVE) "The script is active"');
  t.is(
    await client.command('RENAMESCRIPT "main" "ä \\"x\\"\\\\"'),
    'NO (ALREADYEXISTS) "There is a script of this name"',
  );
  t.is(await client.command('RENAMESCRIPT "main" "other"'), 'OK "Done"');
  t.is(await client.command(`PUTSCRIPT "other" ${literal('stop;')}`), 'OK "Done"');
  t.is(await client.command('LISTSCRIPTS'), '"other" ACTIVE\r\n"ä \\"x\\"\\\\"\r\nOK "Done"');
  t.is(await client.command('SETACTIVE ""'), 'OK "Done"');
  t.is(await client.command('DELETESCRIPT "other"'), 'OK "Done"');
  for (const command of ['GETSCRIPT "x"', 'DELETESCRIPT "x"', 'SETACTIVE "x"', 'RENAMESCRIPT "x" "y"'])
    t.is(await client.command(command), 'NO (NONEXISTENT) "There is no such script"', command);
  t.is(await (await open('bob-key')).command('LISTSCRIPTS'), 'OK "Done"', 'they are of one account');
});

test('a script with faults is refused with the line and column of each, and changes nothing', async (t) => {
  const { open, mailboxes } = await startSieve(t);
  const client = await open();
  const bad = 'keep;\r\n  foo;\r\nbar "\\"";\r\n';
  const reply = await client.command(`PUTSCRIPT "main" ${literal(bad)}`);
  t.regex(reply, /^NO \{\d+\}\r\nline 2, column 3: .*foo.*\r\nline 3, column 1: .*bar.*$/);
  t.is(await client.command(`CHECKSCRIPT ${literal(bad)}`), reply);
  t.is(await client.command(`CHECKSCRIPT ${literal(KEEP)}`), 'OK "Done"');
  t.regex(await client.command(`CHECKSCRIPT ${literal('keep;\0')}`), /^NO ".*line 1, column 6/);
  t.is(await client.command('LISTSCRIPTS'), 'OK "Done"');
  t.deepEqual((await mailboxes.refs.of(BOB).ask('sieveScripts', {})).reply, { scripts: [] });
});

test('names have at most 512 octets and no control characters', async (t) => {
  const { open } = await startSieve(t);
  const client = await open();
  const refusal = 'NO "A name has 1 to 512 octets, and no control characters"';
  for (const name of ['', 'a\rb', 'a\0', 'a\u0085', 'a\u2028', 'ä'.repeat(257)]) {
    t.is(await client.command(`PUTSCRIPT ${literal(name)} "keep;"`), refusal, name);
    t.is(await client.command(`HAVESPACE ${literal(name)} 1`), refusal, name);
  }
  t.is(await client.command(`PUTSCRIPT "${'ä'.repeat(256)}" "keep;"`), 'OK "Done"');
  t.is(await client.command(`RENAMESCRIPT "${'ä'.repeat(256)}" ${literal('a\n')}`), refusal);
});

test('scripts have room: 64 kB each, 32 of them', async (t) => {
  const { open, memory } = await startSieve(t);
  const client = await open();
  const most = 64 * 1024;
  const tooLarge = 'NO (QUOTA/MAXSIZE) "The script is too large, or the scripts of the account are"';
  t.is(await client.command(`PUTSCRIPT "a" ${literal('#'.repeat(most))}`), 'OK "Done"');
  t.is(await client.command(`PUTSCRIPT "a" ${literal('#'.repeat(most + 1))}`), tooLarge);
  t.is(await client.command(`PUTSCRIPT "a" ${literal('#'.repeat(10 * most))}`), tooLarge, 'it is passed over');
  t.is(await client.command(`HAVESPACE "a" ${most}`), 'OK "Done"');
  t.is(await client.command(`HAVESPACE "a" ${most + 1}`), tooLarge);
  t.is(await client.command('HAVESPACE "a" 9999999999'), tooLarge);
  for (let i = 1; i < 32; i++) client.write(`PUTSCRIPT "s${i}" "keep;"\r\n`);
  for (let i = 1; i < 32; i++) t.is(await client.reply(), 'OK "Done"', 'pipelined commands are answered in order');
  const tooMany = 'NO (QUOTA/MAXSCRIPTS) "The account has too many scripts"';
  t.is(await client.command('PUTSCRIPT "b" "keep;"'), tooMany);
  t.is(await client.command('HAVESPACE "b" 1'), tooMany);
  t.is(memory.used, 0, 'commands that are over hold no memory');
});
