// Compares runs of random scripts on random messages with those of Pigeonhole's `sieve-test`, where it is installed.

import { spawn } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { runs } from '../../support/amounts.js';
import { serialTestWith } from '../../support/test-with.js';
import { letter, script } from './random-scripts.js';
import { LETTER, outcome } from './running.js';

/** `sieve-test` refuses to run as root: this is `nobody`. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

async function peerOutcome(directory: string, script: string, letter: string): Promise<string[]> {
  await writeFile(join(directory, 'script.sieve'), script);
  await writeFile(join(directory, 'letter.eml'), letter.replaceAll('\n', '\r\n'));
  const args = [
    '-x',
    '+editheader',
    '-f',
    'carol@example.org',
    '-r',
    'Bob+tag@Example.test',
    'script.sieve',
    'letter.eml',
  ];
  const env = { PATH: process.env['PATH'], HOME: directory, USER: 'nobody', TZ: 'UTC' };
  const child = spawn('sieve-test', args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'], ...UNPRIVILEGED });
  let [output, faults] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    faults += chunk.toString();
  });
  await new Promise((resolve) => child.once('close', resolve));
  if (!faults.includes('final result: success')) throw new Error(`sieve-test: ${faults}\n${output}`);
  return actionsIn(output);
}

/** Reads what `sieve-test` prints: the actions and the implicit keep, with their flags. */
function actionsIn(output: string): string[] {
  const actions: string[] = [];
  for (const line of output.split('\n')) {
    const stored = /^ \* store message in folder: (.*)$/.exec(line)?.[1];
    const address = /^ \* redirect message to: <(.*)>$/.exec(line)?.[1];
    const reply = /^ \* (send vacation|reject) message/.exec(line)?.[1];
    const flags = /^ +\+ add IMAP flags: ?(.*)$/.exec(line)?.[1];
    if (stored !== undefined) actions.push(stored === 'INBOX' ? 'keep' : `fileinto ${stored}`);
    else if (address !== undefined) actions.push(`redirect ${address}`);
    else if (reply !== undefined) actions.push(reply === 'reject' ? 'reject' : 'vacation');
    else if (flags !== undefined) actions.push(`${actions.pop()} ${flags}`.trim());
  }
  return actions;
}

/** Flags in one case: Pigeonhole shows those of the system in lower case. */
const comparable = (actions: readonly string[]): string[] => actions.map((action) => action.toLowerCase());

serialTestWith('sieve-test')('random scripts do what they do in Pigeonhole', async (t) => {
  t.timeout(600_000);
  const directory = temporaryDirectory();
  await chmod(directory, 0o777);
  const compare = async (script: string, letter: string) => {
    const peer = comparable(await peerOutcome(directory, script, letter));
    const environment = { sender: 'carol@example.org', recipient: 'Bob+tag@Example.test' };
    t.deepEqual(comparable(outcome(script, { letter, environment })), peer, `${script}\n\n${letter}`);
  };
  await t.notThrowsAsync(fc.assert(fc.asyncProperty(script, letter, compare), { numRuns: runs(1000) }));
});

serialTestWith('sieve-test')('answers, refusals and redirects are those of Pigeonhole', async (t) => {
  const directory = temporaryDirectory();
  await chmod(directory, 0o777);
  const environment = { sender: 'carol@example.org', recipient: 'Bob+tag@Example.test' };
  const vacation = 'vacation :days 3 :subject "Away" :handle "h" "I am away.";';
  for (const script of [
    `require "vacation"; ${vacation}`,
    `require "vacation"; ${vacation} discard;`,
    `require ["vacation", "fileinto"]; fileinto "Lists"; ${vacation}`,
    `require "vacation"; ${vacation} redirect "carol@example.org";`,
    'redirect "carol@example.org"; redirect "carol@example.org";',
    'require "copy"; redirect :copy "carol@example.org";',
    'require "reject"; reject "No.";',
    'require "reject"; if header "subject" "other" { reject "No."; }',
    'require "reject"; reject "No."; stop; keep;',
  ]) {
    const actions = outcome(script, { letter: LETTER, environment }).map((one) =>
      one.replace(/^(vacation|reject) .*/, '$1'),
    );
    t.deepEqual(comparable(actions), comparable(await peerOutcome(directory, script, LETTER)), script);
  }
});
