import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { holderOf, openDataDirectory } from '../../../src/store/local/data-directory.js';
import { LocalFault } from '../../../src/store/local/local-fault.js';
import { identityOf } from '../../../src/store/local/process-identity.js';
import test from '../../support/test.js';

const directory = () => temporaryDirectory('mansio-data-');
const locks = (path: string) => readdirSync(path).filter((name) => name.startsWith('mansio.lock'));

/** Starts a process that opens the directory, prints the result, and keeps the directory until its stdin closes. */
function contender(path: string) {
  const module = new URL('../../../src/store/local/data-directory.js', import.meta.url).href;
  const script = `
    const { openDataDirectory } = await import(${JSON.stringify(module)});
    process.stdin.once('data', () => {
      try { openDataDirectory(${JSON.stringify(path)}); console.log('held'); }
      catch (error) { console.log(error.name); }
    });
    console.log('here');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const said = async () => String((await once(child.stdout, 'data'))[0]).trim();
  return { child, said };
}

test('one process holds the directory, until it closes it', (t) => {
  const path = join(directory(), 'a', 'b');
  const held = openDataDirectory(path);
  t.is(holderOf(held.path)?.pid, process.pid);
  const error = t.throws(() => openDataDirectory(path), { instanceOf: LocalFault });
  t.true(error?.message.includes(String(process.pid)) && error.message.includes(held.path));
  held.release();
  t.is(holderOf(held.path), undefined);
  openDataDirectory(path).release();
  t.deepEqual(locks(held.path), []);
});

test('a holder that died, or whose pid is another process now, is taken over from', (t) => {
  const self = identityOf(process.pid)!;
  for (const dead of [
    { pid: 2 ** 30, started: self.started },
    { ...self, started: 'another boot/1' },
  ]) {
    const path = directory();
    writeFileSync(join(path, 'mansio.lock.7'), JSON.stringify(dead));
    const held = openDataDirectory(path);
    t.deepEqual(locks(path), ['mansio.lock.8']);
    held.release();
  }
});

test('a lock file that a crash left empty does not count', (t) => {
  const path = directory();
  writeFileSync(join(path, 'mansio.lock.1'), '');
  openDataDirectory(path).release();
  t.pass();
});

test('every user may read who holds the directory, whatever the umask is', (t) => {
  const path = directory();
  const umask = process.umask(0o077);
  try {
    const held = openDataDirectory(path);
    t.is(statSync(join(path, locks(path)[0]!)).mode & 0o777, 0o644);
    held.release();
  } finally {
    process.umask(umask);
  }
});

test('a lock file that may not be read counts as held', (t) => {
  const path = directory();
  const lock = join(path, 'mansio.lock.1');
  writeFileSync(lock, JSON.stringify({ pid: 2 ** 30, started: 'x' }), { mode: 0o600 });
  chmodSync(path, 0o777);
  chmodSync(lock, 0);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(54_321);
  try {
    for (const open of [openDataDirectory, holderOf])
      t.throws(() => open(path), { instanceOf: LocalFault, message: /mansio\.lock\.1 cannot be read/ });
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
  t.deepEqual(locks(path), ['mansio.lock.1']);
});

test('of many that start at once exactly one gets it, also from a dead holder', async (t) => {
  const path = directory();
  writeFileSync(join(path, 'mansio.lock.3'), JSON.stringify({ pid: 2 ** 30, started: 'x' }));
  const contenders = Array.from({ length: 6 }, () => contender(path));
  for (const { said } of contenders) t.is(await said(), 'here');
  const results = contenders.map(({ said }) => said());
  for (const { child } of contenders) child.stdin.write('go\n');
  const outcome = (await Promise.all(results)).sort();
  t.deepEqual(outcome, [...Array(5).fill('LocalFault'), 'held']);
  for (const { child } of contenders) child.kill('SIGKILL');
  await Promise.all(contenders.map(({ child }) => once(child, 'exit')));
  openDataDirectory(path).release();
});

test('a kept value is made once and private', (t) => {
  const held = openDataDirectory(directory());
  t.is(
    held.keep('node-id', () => 'first'),
    'first',
  );
  t.is(
    held.keep('node-id', () => 'second'),
    'first',
  );
  t.is(statSync(join(held.path, 'node-id')).mode & 0o777, 0o600);
  t.is(readFileSync(join(held.path, 'node-id'), 'utf8'), 'first\n');
  held.release();
});

test('a path that is a file is refused in words', (t) => {
  const path = join(directory(), 'file');
  writeFileSync(path, '');
  t.throws(() => openDataDirectory(path), { instanceOf: LocalFault, message: /not a directory/ });
});
