// Compares messages whose headers random scripts edit with those that Pigeonhole's `sieve-test` stores, where it is installed. Pigeonhole
// writes an encoded word in a value so that readers see it as written; here a script may write encoded words.
import { spawn } from 'node:child_process';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { headerPairs } from '../../../src/mail-format/header/header-pairs.js';
import { WordDecoder } from '../../../src/mail-format/mime-index/header-text.js';
import { editedHeader } from '../../../src/mail-format/sieve/header-edit.js';
import { runs } from '../../support/amounts.js';
import { serialTestWith } from '../../support/test-with.js';
import { resultOf } from './running.js';

/** `sieve-test` refuses to run as root: this is `nobody`. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The fields of a header, with their words decoded. */
function fieldsOf(header: Buffer): string[] {
  const words = new WordDecoder();
  return headerPairs(header).map(([name, value]) => `${name}: ${words.text(value)}`);
}

/** Runs the script with Pigeonhole, and returns the fields of what it stores in the inbox and in the folder `A`. */
async function peerStores(directory: string, script: string, header: string) {
  await rm(join(directory, 'mail'), { recursive: true, force: true });
  await writeFile(join(directory, 'script.sieve'), script);
  await writeFile(join(directory, 'letter.eml'), `${header}body\r\n`);
  const args = ['-x', '+editheader', '-e', '-l', `maildir:${join(directory, 'mail')}`, 'script.sieve', 'letter.eml'];
  const env = { PATH: process.env['PATH'], HOME: directory, USER: 'nobody', TZ: 'UTC' };
  const child = spawn('sieve-test', args, {
    cwd: directory,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...UNPRIVILEGED,
  });
  let faults = '';
  child.stderr.on('data', (chunk: Buffer) => {
    faults += chunk.toString();
  });
  await new Promise((resolve) => child.once('close', resolve));
  if (!faults.includes('final result: success')) throw new Error(`sieve-test: ${faults}`);
  const stored = async (path: string) => {
    const folder = join(directory, 'mail', path, 'new');
    const [name] = await readdir(folder).catch(() => []);
    if (name === undefined) return undefined;
    const text = (await readFile(join(folder, name))).toString('latin1');
    return fieldsOf(Buffer.from(text.slice(0, text.indexOf('\n\n') + 1), 'latin1'));
  };
  return [await stored('.'), await stored('.A')];
}

function ownStores(script: string, header: string) {
  const { actions } = resultOf(script, { letter: `${header}body\r\n` });
  const stored = (type: 'keep' | 'fileinto') => {
    const action = actions.find((one) => one.type === type);
    if (action === undefined || !('edit' in action)) return undefined;
    const octets = Buffer.from(header);
    return fieldsOf(action.edit === undefined ? octets : editedHeader(octets, action.edit));
  };
  return [stored('keep'), stored('fileinto')];
}

const name = fc.constantFrom('X-A', 'X-B', 'Subject');
const value = fc.constantFrom('a', 'ab', 'b', 'Grüße', 'a b', `${'word '.repeat(30)}x`);
const command = fc.oneof(
  fc
    .tuple(fc.constantFrom('', ':last '), name, value)
    .map(([last, name, value]) => `addheader ${last}"${name}" "${value}";`),
  fc
    .tuple(
      fc.constantFrom('', ':index 1 ', ':index 2 ', ':index 1 :last '),
      name,
      fc.constantFrom('', ' "a"', ' ["ab", "Grüße"]'),
      fc.constantFrom('', ':contains '),
    )
    .map(([index, name, keys, type]) => `deleteheader ${index}${keys === '' ? '' : type}"${name}"${keys};`),
  fc.constantFrom('fileinto :create "A";', 'keep;', 'if header :contains "X-A" "b" { addheader "X-B" "seen"; }'),
);
const scripts = fc
  .array(command, { minLength: 1, maxLength: 6 })
  .map((commands) => `require ["editheader", "fileinto", "mailbox", "index"];\n${commands.join('\n')}`);
const headers = fc
  .array(fc.tuple(name, fc.constantFrom('a', 'ab', 'b\r\n c', '=?utf-8?q?Gr=C3=BC=C3=9Fe?=')), { maxLength: 5 })
  .map((fields) => `From: a@b.test\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);

serialTestWith('sieve-test')('messages that random scripts edit are those that Pigeonhole stores', async (t) => {
  const directory = temporaryDirectory();
  await chmod(directory, 0o777);
  const compare = async (script: string, header: string) => {
    t.deepEqual(ownStores(script, header), await peerStores(directory, script, header), `${script}\n\n${header}`);
  };
  await t.notThrowsAsync(fc.assert(fc.asyncProperty(scripts, headers, compare), { numRuns: runs(300) }));
});
