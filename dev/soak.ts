// `npm run test:soak [-- rounds [seed]]` repeats the tests that draw random cases or kill. Each round has another seed, which is printed,
// and all amounts (`test/support/amounts.ts`). It stops at the first round that fails and prints the command that runs that round again.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROUNDS = 20;
const TESTS = 'dist/test';

const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  .map((file) => join(TESTS, file))
  .filter((file) => /from '(fast-check|[./a-z]+\/support\/amounts\.js)'/.test(readFileSync(file, 'utf8')));

const [rounds = ROUNDS, first] = process.argv.slice(2).map(Number);
if (!Number.isSafeInteger(rounds) || (first !== undefined && !Number.isSafeInteger(first))) {
  process.stderr.write('usage: npm run test:soak [-- rounds [seed]]\n');
  process.exit(2);
}
for (let round = 1; round <= rounds; round++) {
  const seed = round === 1 && first !== undefined ? first : randomInt(2 ** 31);
  process.stdout.write(`round ${round} of ${rounds}: seed ${seed}, ${files.length} files\n`);
  const { status } = spawnSync(process.execPath, ['dist/test/run.js', ...files], {
    stdio: 'inherit',
    env: { TEST_AMOUNTS: 'all', ...process.env, PROPERTY_SEED: String(seed) },
  });
  if (status === 0) continue;
  process.stderr.write(`seed ${seed} fails; again: npm run test:soak -- 1 ${seed}\n`);
  process.exit(1);
}
