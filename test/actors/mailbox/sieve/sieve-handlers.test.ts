// Tests Sieve scripts as state of a mailbox: they are stored, activated, renamed and deleted, and limited.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import test from '../../../support/test.js';
import { mailboxWorld } from '../mailbox-world.js';

const MOST_OCTETS = 64 * 1024;

async function start(t: ExecutionContext) {
  const world = await mailboxWorld();
  t.teardown(() => world.end());
  const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'x');
  const mailbox = world.mailboxes.of(account.id);
  const put = async (name: string, content: string, isActive: boolean | null = null) =>
    (await mailbox.ask('putSieveScript', { name, content, isActive })).refusal;
  /** The names; an asterisk marks the active one. */
  const list = async () => {
    const { scripts } = (await mailbox.ask('sieveScripts', {})).reply!;
    return scripts.map(({ name, isActive }) => `${name}${isActive ? '*' : ''}`).join(' ');
  };
  return { world, accountId: account.id, mailbox, put, list };
}

test('scripts are stored and replaced, one at most is active, and the next owner has them', async (t) => {
  const { world, accountId, mailbox, put, list } = await start(t);
  t.is(await list(), '');
  t.is(await put('main', 'keep;'), undefined);
  t.is(await put('other', 'discard;', true), undefined);
  t.is(await list(), 'main other*');
  t.is(await put('main', 'stop;', true), undefined);
  t.is(await put('other', 'discard;', false), undefined);
  t.is(await put('main', 'stop;'), undefined);
  t.is(world.commits.length, 3, 'what is stored already changes nothing');
  for (const owner of ['the same', 'another']) {
    t.is(await list(), 'main* other', owner);
    t.deepEqual((await mailbox.ask('sieveScript', { name: 'main' })).reply, { content: 'stop;', isActive: true });
    world.reload();
  }
  t.is((await mailbox.ask('sieveScript', { name: 'none' })).refusal, 'noSuchScript');
  t.is(await put('main', 'stop;', false), undefined);
  t.is(await list(), 'main other');
  const records = await world.events.read(accountId, 0, 100);
  t.deepEqual(
    records.map(({ type }) => type.replace('SieveScript', '')),
    ['Stored', 'Stored', 'Activated', 'Stored', 'Activated', 'Activated'],
  );
});

test('the active script is not deleted, and stays active under a new name', async (t) => {
  const { world, mailbox, put, list } = await start(t);
  await put('a', 'keep;', true);
  await put('b', 'stop;');
  const remove = async (name: string) => (await mailbox.ask('deleteSieveScript', { name })).refusal;
  const rename = async (name: string, newName: string) =>
    (await mailbox.ask('renameSieveScript', { name, newName })).refusal;
  const activate = async (name: string | null) => (await mailbox.ask('activateSieveScript', { name })).refusal;
  t.is(await remove('a'), 'scriptActive');
  t.is(await remove('c'), 'noSuchScript');
  t.is(await rename('a', 'b'), 'scriptExists');
  t.is(await rename('a', 'a'), 'scriptExists');
  t.is(await rename('c', 'd'), 'noSuchScript');
  t.is(await rename('a', 'c'), undefined);
  t.is(await list(), 'b c*');
  world.reload();
  t.is(await list(), 'b c*');
  t.is(await rename('b', 'a'), undefined);
  t.is(await list(), 'a c*');
  t.is(await activate('b'), 'noSuchScript');
  t.is(await activate('a'), undefined);
  t.is(await activate('a'), undefined);
  t.is(await remove('c'), undefined);
  t.is(await activate(null), undefined);
  t.is(await remove('a'), undefined);
  t.is(await list(), '');
  await put('d', 'keep;', true);
  t.is((await mailbox.ask('deleteSieveScript', { name: 'd', mayBeActive: true })).refusal, undefined);
  t.is(await list(), '');
  await put('d', 'keep;');
  t.is(await list(), 'd', 'a script of the same name is not active by itself');
});

test('commands of one batch see each other', async (t) => {
  const { mailbox, put, list } = await start(t);
  const outcomes = await Promise.all([
    put('a', 'keep;', true),
    mailbox.ask('renameSieveScript', { name: 'a', newName: 'b' }),
    put('a', 'stop;', true),
    mailbox.ask('deleteSieveScript', { name: 'b' }),
    mailbox.ask('deleteSieveScript', { name: 'a' }),
  ]);
  t.is(outcomes[4].refusal, 'scriptActive');
  t.is(await list(), 'a*');
  t.is((await mailbox.ask('sieveScript', { name: 'a' })).reply?.content, 'stop;');
});

test('an account has 32 scripts of 64 kB, and 512 kB of them together', async (t) => {
  const { mailbox, put, list } = await start(t);
  const room = async (name: string, size: number) => (await mailbox.ask('sieveRoom', { name, size })).refusal;
  t.is(await put('large', `#${'ä'.repeat(MOST_OCTETS / 2)}`), 'scriptTooLarge');
  t.is(await room('large', MOST_OCTETS + 1), 'scriptTooLarge');
  t.is(await room('large', MOST_OCTETS), undefined);
  const whole = '#'.repeat(MOST_OCTETS);
  for (let i = 0; i < 8; i++) t.is(await put(`large${i}`, whole), undefined);
  t.is(await put('one more', '#'), 'scriptTooLarge');
  t.is(await put('large0', ''), undefined, 'a replaced script gives its room back');
  t.is(await room('one more', MOST_OCTETS), undefined);
  for (let i = 8; i < 32; i++) t.is(await put(`large${i}`, 'keep;'), undefined);
  t.is(await put('one more', 'keep;'), 'tooManyScripts');
  t.is(await room('one more', 1), 'tooManyScripts');
  t.is(await room('large0', 1), undefined);
  t.is((await list()).split(' ').length, 32);
});
