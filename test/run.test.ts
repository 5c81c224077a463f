// Tests that a run of the tests ends when a test or a process does not: with what had not ended, and as a failure.
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { RUN_SERVER } from './support/database/embedded-database.js';
import { END_MS } from './support/run/process-end.js';
import test from './support/test.js';

const RUNNER = 'dist/test/run.js';
const RUNNING_FOR_EVER = 'setInterval(() => {}, 1000);';

/** Runs one test file with this text. */
async function runOf(t: ExecutionContext, name: string, text: string, env: Record<string, string>) {
  const folder = join('dist/test-groups', `${name}-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, `${name}.test.js`);
  writeFileSync(file, `import test from 'ava';\n${text}\n`);
  const { TEST_ENDED_FILES: _ended, TEST_TIMES: _times, [RUN_SERVER]: _server, ...own } = process.env;
  const run = spawn(process.execPath, [RUNNER, file], { env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => void run.kill());
  let output = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (octets: Buffer) => (output += octets));
  const status = await new Promise<number | null>((resolve) => run.once('close', resolve));
  return { status, output };
}

test('a run in which no test ends any more is ended, names the file and fails', async (t) => {
  // A test that asks for more time makes AVA's own time-out go by without a second try.
  const text = `${RUNNING_FOR_EVER}
    test('asks for time', (t) => { t.timeout(600_000); t.pass(); });
    test('waits for nothing', async () => { await new Promise(() => {}); });`;
  let ended = { status: null as number | null, output: '' };
  // On a busy machine the limit may be over before the first test has run.
  for (let ms = 12_000; ms < 100_000 && !ended.output.includes('asks for time'); ms *= 2) {
    ended = await runOf(t, 'stuck', text, { TEST_STUCK_MS: String(ms) });
  }
  const { status, output } = ended;
  t.is(status, 1, output);
  t.regex(output, /No test has ended for 0\.\d minutes/);
  t.regex(output, /1 tests were pending in .*stuck\.test\.js/);
  t.regex(output, /◌ waits for nothing/);
});

test('a process that does not end after its tests fails the run, which names the file', async (t) => {
  const text = `${RUNNING_FOR_EVER}\ntest('leaves a timer', (t) => t.pass());`;
  const { status, output } = await runOf(t, 'open', text, { [END_MS]: '500' });
  t.is(status, 1, output);
  t.regex(output, /All tests of this process have ended 0\.5 s ago, and it does not end: .*Timeout/);
  t.regex(output, /open\.test\.js exited with a non-zero exit code: 1/);
});
