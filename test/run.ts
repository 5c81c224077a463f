// `npm test` and `npm run test:quick`: AVA over the test files, with one PostgreSQL for all of them, and a line now and then that says
// how far it is. Options and files are given on to AVA. However it ends, nothing that it started stays.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { RUN_SERVER, startTestServer } from './support/embedded-database.js';
import { ENDED_FILES } from './support/ended-file.js';
import { startsNode } from './support/node-files.js';
import { temporaryDirectory } from './support/temporary-directory.js';

const AVA = 'node_modules/ava/entrypoints/cli.mjs';
const TESTS = 'dist/test';
const COMPILED = resolve('node_modules/.cache/mansio/compiled');
const EVERY_MS = 10_000;
/** What AVA says of one test that has ended. */
const TEST_LINE = /^ +[✔✘-] /u;

const given = process.argv.slice(2);
const isQuick = given[0] === '--quick';
if (isQuick) given.shift();
const named = given.filter((argument) => argument.endsWith('.js'));
const all = named.length > 0 ? named : filesBelow(TESTS);
const files = isQuick ? all.filter((file) => !startsNode(file)) : all;

const began = Date.now();
let tests = 0;
const server = await startTestServer();
const ended = join(temporaryDirectory('mansio-test-run-'), 'ended');
writeFileSync(ended, '');
const ava = startAva();
// Told so, AVA ends its workers, and what they have started ends with them. That the terminal's Ctrl-C reaches it too does no harm.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ava.kill('SIGINT'));
const timer = setInterval(tell, EVERY_MS);
const status = await new Promise<number>((resolve) => ava.once('close', (code) => resolve(code ?? 1)));
clearInterval(timer);
tell();
await server.stop();
process.exit(status);

function startAva(): ChildProcess {
  const options = given.filter((argument) => !named.includes(argument));
  const child = spawn(process.execPath, [AVA, ...options, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
      ...process.env,
      // From Node.js 22 on; earlier versions pass it over.
      NODE_COMPILE_CACHE: COMPILED,
      [RUN_SERVER]: String(server.port),
      [ENDED_FILES]: ended,
    },
  });
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (TEST_LINE.test(stripVTControlCharacters(line))) tests++;
    process.stdout.write(`${line}\n`);
  });
  return child;
}

function tell(): void {
  const done = statSync(ended).size;
  const seconds = Math.round((Date.now() - began) / 1000);
  const minutes = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  process.stdout.write(`  [${done} of ${files.length} files, ${tests} tests, ${minutes}]\n`);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join(folder, file));
}
