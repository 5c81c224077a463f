// Tests leftovers of an earlier parent's processes: the next start waits for the processes, and removes unused directories.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { clearLeftDirectories } from '../../../src/node/processes/process-directories.js';
import { openDataDirectory } from '../../../src/store/local/data-directory.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

const over = new AbortController().signal;

function leave(...numbers: readonly number[]): string {
  const directory = temporaryDirectory('mansio-test-left-');
  for (const number of numbers) mkdirSync(join(directory, 'processes', String(number), 'spool'), { recursive: true });
  return directory;
}

test('a process that still runs is waited for, and its directory goes when it has no use', async (t) => {
  const directory = leave(1, 2, 3);
  const held = openDataDirectory(join(directory, 'processes', '3'));
  const log = pino({ level: 'warn' }, { write: () => held.release() });
  await clearLeftDirectories(directory, 2, log, over);
  t.deepEqual(readdirSync(join(directory, 'processes')).sort(), ['1', '2']);
});

test('a node without a parent keeps no directory of processes', async (t) => {
  const directory = leave(1, 2);
  const node = await startTestNode({ MANSIO_DATA_DIR: directory });
  t.deepEqual(readdirSync(join(directory, 'processes')), []);
  t.deepEqual(await node.stop(), { code: 0, signal: null });
});
