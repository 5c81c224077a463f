// Runs `npm test` and `npm run test:quick`: AVA over the test files, with one PostgreSQL for all of them, and a line of progress
// periodically. Options and files are passed on to AVA. However it ends, nothing that it started remains. A run in which no test ends any
// more fails: AVA's own time-out does not end it after a test has called `t.timeout`.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { temporaryDirectory } from '../dev/temporary-directory.js';
import { RUN_SERVER, startTestServer } from './support/database/embedded-database.js';
import { ENDED_FILES } from './support/run/ended-file.js';
import { spread, TEST_ORDER } from './support/run/file-order.js';
import { TEST_TIMES } from './support/run/file-turns.js';
import { GroupedLines } from './support/run/grouped-lines.js';
import { groupFiles } from './support/run/groups.js';
import { startsCluster, startsNode } from './support/run/node-files.js';

const AVA = 'node_modules/ava/entrypoints/cli.mjs';
const TESTS = 'dist/test';
const COMPILED = resolve('node_modules/.cache/mansio/compiled');
const EVERY_MS = 10_000;
const FEW_FILES = 12;
/** In ms; no test takes as long (`t.timeout`). */
const STUCK_MS = Number(process.env['TEST_STUCK_MS'] ?? 960_000);
/** The time in ms that AVA has to name the tests that have not ended. */
const REPORT_MS = 20_000;
/** The line of AVA for one test that has ended. */
const TEST_LINE = /^ +[✔✘-] /u;

const given = process.argv.slice(2);
const isQuick = given[0] === '--quick';
if (isQuick) given.shift();
const named = given.filter((argument) => argument.endsWith('.js'));
const all = named.length > 0 ? named : filesBelow(TESTS);
const withNodes = isQuick ? [] : all.filter(startsNode);
const withoutNodes = all.filter((file) => !startsNode(file));
const count = withNodes.length + withoutNodes.length;
const groups = `dist/test-groups/${process.pid}`;
// A few files that are named in the arguments run as under AVA itself.
const areFew = named.length > 0 && named.length <= FEW_FILES;
const clusters = withNodes.filter(startsCluster).sort();
// Tests of whole nodes take longest, and would otherwise run alone at the end, one processor idle.
const others = [
  ...withNodes.filter((file) => !startsCluster(file)).sort(),
  ...(areFew ? withoutNodes : groupFiles(withoutNodes, groups)),
];
const entries = spread(clusters, others);

const began = Date.now();
let tests = 0;
let lastEnd = began;
let isStuck = false;
const server = await startTestServer();
const progress = temporaryDirectory('mansio-test-run-');
const ended = join(progress, 'ended');
const times = join(progress, 'times');
const order = join(progress, 'order');
writeFileSync(order, JSON.stringify(entries.map((file) => resolve(file))));
for (const file of [ended, times]) writeFileSync(file, '');
const lines = new GroupedLines(times);
const ava = startAva();
// SIGINT makes AVA end its workers and what they have started. A Ctrl-C of the terminal reaches AVA as well, which does no harm.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ava.kill('SIGINT'));
const timers = [setInterval(tell, EVERY_MS), setInterval(endStuck, 1_000)];
const status = await new Promise<number>((resolve) => ava.once('close', (code) => resolve(isStuck ? 1 : (code ?? 1))));
for (const timer of timers) clearInterval(timer);
tell();
await server.stop();
rmSync(groups, { recursive: true, force: true });
process.exit(status);

function startAva(): ChildProcess {
  const options = given.filter((argument) => !named.includes(argument));
  const child = spawn(process.execPath, [AVA, ...options, ...entries], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
      ...process.env,
      // Node.js before 22 ignores it.
      NODE_COMPILE_CACHE: COMPILED,
      [RUN_SERVER]: String(server.port),
      [ENDED_FILES]: ended,
      [TEST_TIMES]: times,
      [TEST_ORDER]: order,
    },
  });
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (TEST_LINE.test(stripVTControlCharacters(line))) {
      tests++;
      lastEnd = Date.now();
    }
    process.stdout.write(`${lines.shown(line)}\n`);
  });
  return child;
}

function tell(): void {
  const done = statSync(ended).size;
  const seconds = Math.round((Date.now() - began) / 1000);
  const minutes = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  process.stdout.write(`  [${done} of ${count} files, ${tests} tests, ${minutes}]\n`);
}

function endStuck(): void {
  if (isStuck || Date.now() - lastEnd < STUCK_MS) return;
  isStuck = true;
  const minutes = Math.round(STUCK_MS / 6_000) / 10;
  process.stdout.write(`  ✘ No test has ended for ${minutes} minutes. The run ends; these had not ended:\n`);
  ava.kill('SIGINT');
  setTimeout(() => ava.kill('SIGKILL'), REPORT_MS).unref();
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join(folder, file));
}
