// Compiles src, dev, test and bench to dist/ and puts the SQL migrations beside the code that reads them. The new dist takes
// the place of the old at once, so a node or a test run that loads something late still finds it.
import { spawnSync } from 'node:child_process';
import { cpSync, renameSync, rmSync } from 'node:fs';
import nodeVersion from './bin/node-version.js';

const problem = nodeVersion.nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`mansio: ${problem}\n`);
  process.exit(1);
}

const migrations = 'src/store/postgres/migrations';
const fresh = 'dist.new';
rmSync(fresh, { recursive: true, force: true });
cpSync(migrations, `${fresh}/${migrations}`, { recursive: true });
const compiler = spawnSync('node_modules/.bin/tsc', ['-p', '.', '--outDir', fresh], { stdio: 'inherit' });
if (compiler.status !== 0) {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(compiler.status ?? 1);
}
rmSync('dist', { recursive: true, force: true });
renameSync(fresh, 'dist');
