// Tests the files of the system: the settings are read alike by all their readers, the units fit where the program is and systemd finds no
// fault in them, and a file is whole or not there.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { quoted, unitFor, writeFiles } from '../../../src/cli/setup/system-files.js';
import { PROGRAM } from '../../support/node.js';
import test from '../../support/test.js';

const UNIT = readFileSync('deploy/mansio.service', 'utf8');
const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
const PLACES = { program: '/usr/local/bin/mansio', node: '/usr/bin/node', dataDir: '/var/lib/mansio' };
const isInstalled = analyze('--version').status === 0;
const withSystemd = isInstalled ? test : test.skip;

const lineOf = (text: string, name: string) => text.split('\n').find((line) => line.startsWith(`${name}=`));

test('a unit names the program and its Node.js where they are', (t) => {
  t.is(unitFor(UNIT, PLACES), UNIT);
  const own = unitFor(UNIT, { ...PLACES, program: '/opt/mansio/bin/mansio', node: '/opt/node/bin/node' });
  t.is(lineOf(own, 'ExecStart'), 'ExecStart=/opt/node/bin/node /opt/mansio/bin/mansio serve');
  t.is(lineOf(own, 'ProtectHome'), 'ProtectHome=yes');
  const home = unitFor(UNIT, { ...PLACES, program: '/home/ann/mansio/bin/mansio' });
  t.is(lineOf(home, 'ProtectHome'), 'ProtectHome=read-only');
  const backup = "ExecStart=/bin/sh -c 'mansio backup x'\n";
  t.is(
    unitFor(backup, { ...PLACES, program: '/opt/mansio/bin/mansio' }),
    "ExecStart=/bin/sh -c '/opt/mansio/bin/mansio backup x'\n",
  );
});

test('node and backup may write to another data directory, which is visible', (t) => {
  for (const text of [UNIT, readFileSync('deploy/mansio-backup.service', 'utf8')]) {
    const own = unitFor(text, { ...PLACES, dataDir: '/srv/100% "mail"' });
    t.true(own.includes('[Service]\nReadWritePaths="-/srv/100%% \\"mail\\""\n'), own);
    t.is(lineOf(own, 'ProtectHome'), 'ProtectHome=yes');
    t.is(lineOf(unitFor(text, { ...PLACES, dataDir: '/home/mail' }), 'ProtectHome'), 'ProtectHome=read-only');
    t.is(unitFor(text, { ...PLACES, dataDir: '/var/lib/mansio/data' }), unitFor(text, PLACES));
  }
});

test('the backup sees the embedded database of the node, whose capability hides it where processes are hidden', (t) => {
  t.regex(UNIT, /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m);
  t.notRegex(readFileSync('deploy/mansio-backup.service', 'utf8'), /^ProtectProc=(?!default)|^ProcSubset=/m);
});

withSystemd('systemd takes the units as they are, and says that they are hardened', (t) => {
  const directory = temporaryDirectory('mansio-units-');
  for (const name of readdirSync('deploy').filter((each) => /\.(?:service|timer)$/.test(each))) {
    const text = unitFor(readFileSync(join('deploy', name), 'utf8'), {
      program: PROGRAM,
      node: process.execPath,
      dataDir: '/srv/mail box',
    });
    writeFileSync(join(directory, name), text);
  }
  const units = readdirSync(directory).map((name) => join(directory, name));
  const { status, stdout, stderr } = analyze('verify', ...units);
  // An unknown key is a line of output and exit code 0; the user is made by setup.
  const lines = `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line.includes(directory) && !/[Uu]ser|mansio\.env/.test(line));
  t.deepEqual([status, lines], [0, []]);
  const security = analyze('security', '--offline=yes', '--threshold=25', join(directory, 'mansio.service'));
  t.is(security.status, 0, security.stdout.slice(-200));
});

/** The value of one line NAME=value as systemd reads it (systemd.exec(5), EnvironmentFile). */
function systemdValue(line: string): string {
  const text = line.slice(line.indexOf('=') + 1).replace(/^[ \t\r]+/, '');
  const quote = text[0];
  if (quote !== "'" && quote !== '"') return text.replace(/\\(.)/gs, '$1').replace(/[ \t\r]+$/, '');
  let value = '';
  for (let i = 1; text[i] !== quote; i++) {
    if (i >= text.length) throw new Error('the quote has no end');
    if (quote === '"' && text[i] === '\\' && '"\\`$'.includes(text[i + 1] ?? ' ')) i++;
    value += text[i];
  }
  return value;
}

/** The values as a shell that runs the lines has them. */
function shellValues(lines: readonly string[]): readonly string[] {
  const script = lines.map((line, i) => `V${i}${line.slice(line.indexOf('='))}\nprintf '%s\\0' "$V${i}"\n`).join('');
  const { stdout, stderr } = spawnSync('/bin/sh', [], { input: script, encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  return stdout.split('\0').slice(0, -1);
}

const character = fc.oneof(
  fc.constantFrom("'", '"', '\\', '$', '`', '%', ' ', '#', ';', '=', '\n', '\t', '*', '~', '!', '&', '(', 'n'),
  fc.string({ minLength: 1, maxLength: 1, unit: 'grapheme' }),
);

test('a value is read alike by systemd, Node.js and a shell, or refused', (t) => {
  const written: [string, string][] = [];
  fc.assert(
    fc.property(fc.array(character, { maxLength: 12 }), (characters) => {
      const value = characters.join('');
      const isRefused = /\p{Cc}/u.test(value) || (value.includes("'") && /["\\$`]/.test(value));
      let text: string;
      try {
        text = quoted(value);
      } catch {
        return isRefused;
      }
      written.push([value, `NAME=${text}`]);
      return !isRefused && systemdValue(`NAME=${text}`) === value && parseEnv(`NAME=${text}\nX=1\n`)['NAME'] === value;
    }),
    { numRuns: 3_000 },
  );
  t.true(written.length > 100);
  t.deepEqual(
    shellValues(written.map(([, line]) => line)),
    written.map(([value]) => value),
  );
});

test('a file is written whole, with its mode, over what a killed run has left, and a file that is there stays', (t) => {
  const prefix = temporaryDirectory('mansio-files-');
  mkdirSync(join(prefix, 'etc'));
  writeFileSync(join(prefix, 'etc/settings.new'), 'of a killed run', { mode: 0o666 });
  writeFileSync(join(prefix, 'etc/there'), 'of the operator');
  const planned = ['settings', 'there', 'units/a.service'].map((name) => ({
    path: `/etc/${name}`,
    mode: name === 'settings' ? '0640' : '0644',
    content: `${name}\n`,
    isShared: false,
  }));
  const umask = process.umask(0o077);
  let written: ReturnType<typeof writeFiles>;
  try {
    written = writeFiles(planned, prefix, undefined);
  } finally {
    process.umask(umask);
  }
  t.deepEqual(
    written.map(({ state }) => state),
    ['written', 'kept', 'written'],
  );
  t.deepEqual(readdirSync(join(prefix, 'etc')).sort(), ['settings', 'there', 'units']);
  t.is(readFileSync(join(prefix, 'etc/settings'), 'utf8'), 'settings\n');
  t.is(readFileSync(join(prefix, 'etc/there'), 'utf8'), 'of the operator');
  const modeOf = (name: string) => statSync(join(prefix, 'etc', name)).mode & 0o777;
  t.deepEqual(['settings', 'units', 'units/a.service'].map(modeOf), [0o640, 0o755, 0o644]);
});
