// Tests `mansio setup` as an operator runs it, below a prefix: what it writes, that a second run changes nothing, and that a node starts on it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { effectiveSettings } from '../../../src/cli/setup/system-files.js';
import { mansio } from '../../support/command.js';
import { bareEnvironment, PROGRAM, startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

const ANSWERS = ['--domain', 'example.test', '--hostname', 'mail.example.test', '--account', 'ann@example.test'];

const setup = (...args: string[]) => setupWith({}, args);

function setupWith(settings: Readonly<Record<string, string>>, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--', PROGRAM, 'setup', ...args], {
    env: { ...bareEnvironment(), ...settings },
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

/** Path, mode and content of every file of the system below the directory. */
function contents(directory: string) {
  const files = readdirSync(join(directory, 'etc'), { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  return files.map((each) => {
    const path = join(each.parentPath, each.name);
    const { mode, mtimeMs } = statSync(path);
    return [path.slice(directory.length), (mode & 0o777).toString(8), mtimeMs, readFileSync(path, 'utf8')] as const;
  });
}

test('it makes settings, units, domain and account; a second run changes nothing; a node starts on it', async (t) => {
  const prefix = temporaryDirectory('mansio-setup-');
  const first = setup(...ANSWERS, '--acme-email', 'ops@example.test', '--prefix', prefix, '--yes', '--json');
  t.is(first.code, 0, first.err);
  const made = JSON.parse(first.out);
  t.regex(made.apiKey, /^[\w-]{20,}$/);
  t.deepEqual(made.added, [
    'the domain example.test',
    'DKIM keys: mansio, mansio-ed25519',
    'the account ann@example.test',
    'postmaster@example.test, delivered to ann@example.test',
    'abuse@example.test, delivered to ann@example.test',
  ]);
  t.true(made.records.includes('example.test. IN MX 10 mail.example.test.'));
  t.regex(made.records[0], /^(?:; )?mail\.example\.test\. (?:IN A |IN AAAA |needs an A or AAAA record)/);
  t.is(made.records.filter((line: string) => line.includes('_domainkey')).length, 2);
  t.true(made.records.includes('_imaps._tcp.example.test. IN SRV 0 1 993 mail.example.test.'));
  t.true(made.next.some((line: string) => line.endsWith('systemctl enable --now mansio')));
  t.true(made.next.includes('systemctl enable --now mansio-backup.timer'));
  const before = contents(prefix);
  t.deepEqual(
    before
      .map(([path, mode]) => `${mode} ${path}`)
      .filter((line) => !line.includes('backup'))
      .sort(),
    ['640 /etc/mansio/mansio.env', '644 /etc/systemd/system/mansio.service', '644 /etc/sysusers.d/mansio.conf'],
  );
  const settings = parseEnv(readFileSync(join(prefix, 'etc/mansio/mansio.env'), 'utf8'));
  t.like(settings, {
    MANSIO_HOSTNAME: 'mail.example.test',
    MANSIO_DATA_DIR: '/var/lib/mansio',
    MANSIO_MX_PORT: '25',
    MANSIO_HTTPS_PORT: '443',
    MANSIO_SUSPEND_STRANGERS: '500',
    MANSIO_SUSPEND_REFUSED: '100',
    MANSIO_ACME_DIRECTORY: 'letsencrypt',
    MANSIO_ACME_EMAIL: 'ops@example.test',
  });

  const second = setup(...ANSWERS, '--prefix', prefix, '--yes');
  t.is(second.code, 0, second.err);
  t.deepEqual(contents(prefix), before);
  t.regex(second.out, /^kept {4}\S+\/etc\/mansio\/mansio\.env$/m);
  t.notRegex(second.out, /^added|shown this once/m);

  const other = setup(...ANSWERS.with(3, 'mx.example.test'), '--prefix', prefix, '--yes');
  t.is(other.code, 1);
  t.regex(
    other.err,
    /^error: \S+mansio\.env has MANSIO_HOSTNAME=mail\.example\.test: setup changes no file, so change it there\n$/,
  );

  const node = await startTestNode({
    MANSIO_DATA_DIR: join(prefix, 'var/lib/mansio'),
    MANSIO_HOSTNAME: 'mail.example.test',
  });
  const response = await fetch(`http://${node.ready.listeners['http']}/api/profile`, {
    headers: { authorization: `Bearer ${made.apiKey}` },
  });
  t.like(await response.json(), { email: 'ann@example.test' });
  const keys = await mansio(node.dataDir, ['key', 'list', '--account', 'ann@example.test', '--json']);
  // The password of mail programs reads and sends.
  t.deepEqual(JSON.parse(keys.stdout)[0].scopes, ['app', 'smtp']);
  t.is((await node.stop()).code, 0);
});

test('--no-account leaves the store to a restore', async (t) => {
  const from = join(temporaryDirectory('mansio-setup-'), 'data');
  const file = join(temporaryDirectory('mansio-setup-'), 'backup');
  t.is((await mansio(from, ['domain', 'add', 'example.test', '--create'])).code, 0);
  t.is((await mansio(from, ['backup', file])).code, 0);

  const prefix = temporaryDirectory('mansio-setup-');
  const options = ['--no-account', '--hostname', 'mail.example.test', '--prefix', prefix, '--yes'];
  const wrong = setup(...options, '--domain', 'example.test');
  t.is(wrong.code, 1);
  t.regex(wrong.err, /^error: --domain does not go with --no-account: .*\n$/);
  t.deepEqual(readdirSync(prefix), []);
  const { code, out, err } = setup(...options, '--json');
  t.is(code, 0, err);
  const made = JSON.parse(out);
  t.like(made, { domain: null, account: null, apiKey: null, added: [], records: [] });
  t.is(made.next[0], 'mansio restore FILE --env-file /etc/mansio/mansio.env');
  t.notRegex(setup(...options).out, /DNS|undefined|null/);
  const dataDir = join(prefix, 'var/lib/mansio');
  t.deepEqual(readdirSync(dataDir), []);
  const restored = await mansio(dataDir, ['restore', file]);
  t.is(restored.code, 0, restored.stderr);
  t.regex((await mansio(dataDir, ['domain', 'list'])).stdout, /example\.test/);
});

test('a database that does not answer ends the run before anything is made', (t) => {
  const prefix = join(temporaryDirectory('mansio-setup-'), 'image');
  const url = 'postgres://m:p@127.0.0.1:1/mansio';
  const { code, out, err } = setup(...ANSWERS, '--database-url', url, '--prefix', prefix, '--yes');
  t.deepEqual([code, out], [1, '']);
  t.regex(err, /^error: .*127\.0\.0\.1:1/);
  t.false(existsSync(prefix));
});

test('a second run takes the store from the file that is there', (t) => {
  const prefix = temporaryDirectory('mansio-setup-');
  mkdirSync(join(prefix, 'etc/mansio'), { recursive: true });
  const file = join(prefix, 'etc/mansio/mansio.env');
  const url = 'postgres://m:p@127.0.0.1:1/mansio';
  writeFileSync(file, `MANSIO_HOSTNAME=mail.example.test\nMANSIO_DATA_DIR=/srv/mail\nDATABASE_URL=${url}\n`);
  const { code, err } = setup(...ANSWERS, '--prefix', prefix, '--yes');
  t.is(code, 1);
  t.regex(err, /^error: .*127\.0\.0\.1:1/);
  t.deepEqual(readdirSync(prefix), ['etc']);
  const first = { domain: 'example.test', account: 'ann@example.test' };
  const answers = { hostname: 'mail.example.test', first, prefix, isPrint: false };
  const asked = { ...answers, acmeEmail: undefined, databaseUrl: undefined };
  t.like(effectiveSettings(asked), { DATABASE_URL: url, MANSIO_DATA_DIR: `${prefix}/srv/mail` });
  const other = setup(...ANSWERS, '--database-url', `${url}2`, '--prefix', prefix, '--yes');
  t.regex(other.err, /^error: \S+mansio\.env has another DATABASE_URL: /);
});

test('--print writes nothing and shows everything', (t) => {
  const prefix = join(temporaryDirectory('mansio-setup-'), 'image');
  const { code, out, err } = setup(
    ...ANSWERS,
    '--database-url',
    'postgres://m:p@db.example.test/mansio',
    '--prefix',
    prefix,
    '--print',
  );
  t.is(code, 0, err);
  t.false(existsSync(prefix));
  t.regex(out, /^--- \/etc\/mansio\/mansio\.env \(mode 0640\)$/m);
  t.regex(out, /^DATABASE_URL=postgres:\/\/m:p@db\.example\.test\/mansio$/m);
  t.regex(out, /^--- \/etc\/systemd\/system\/mansio\.service/m);
  t.regex(out, /^example\.test\. IN MX 10 mail\.example\.test\.$/m);
});

test('without --database-url, DATABASE_URL of the environment counts', (t) => {
  const settings = { DATABASE_URL: 'postgres://m:p@db.example.test/mansio' };
  const shown = (...args: string[]) => setupWith(settings, [...ANSWERS, '--print', ...args]).out;
  const prefix = join(temporaryDirectory('mansio-setup-'), 'image');
  t.regex(shown('--prefix', prefix), /^DATABASE_URL=postgres:\/\/m:p@db\.example\.test\/mansio$/m);
  t.regex(
    shown('--prefix', prefix, '--database-url', 'postgres://other.example.test/m'),
    /^DATABASE_URL=postgres:\/\/other\.example\.test\/m$/m,
  );
});

test('a missing or wrong answer names its option, and nothing is written', (t) => {
  const prefix = join(temporaryDirectory('mansio-setup-'), 'image');
  const lineOf = (...args: string[]) => {
    const { code, out, err } = setup(...args, '--prefix', prefix);
    t.deepEqual([code, out], [1, '']);
    return err;
  };
  t.is(lineOf(), 'error: --domain is missing (domain of the mail addresses)\n');
  t.is(lineOf('--yes', '--domain', 'example.test'), 'error: --hostname is missing (full name of this machine)\n');
  t.regex(lineOf(...ANSWERS.slice(0, 4)), /^error: --account is missing/);
  t.is(
    lineOf(...ANSWERS.with(5, 'ann@example.org')),
    'error: --account: ann@example.org is not an address at example.test\n',
  );
  t.is(lineOf(...ANSWERS.with(3, 'mail')), 'error: --hostname: mail is not a full name, such as mail.example.org\n');
  t.is(lineOf(...ANSWERS.with(1, 'example')), 'error: --domain: example is not a full name, such as example.org\n');
  t.regex(lineOf(...ANSWERS.with(1, 'exa mple')), /^error: --domain: not a domain name/);
  t.regex(lineOf(...ANSWERS, '--database-url', 'mysql://x'), /^error: .*DATABASE_URL/);
  t.false(existsSync(prefix));
});
