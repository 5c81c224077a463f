// Compiles src, dev, test and bench to dist/ and puts the SQL migrations and the files of Swagger UI beside the code that reads
// them, so that its package, which reports installations to a third party, is no dependency of what runs. The new dist takes
// the place of the old at once, so a node or a test run that loads something late still finds it.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import nodeVersion from './bin/node-version.js';

const unready = existsSync('node_modules/.bin/tsc') ? undefined : 'its packages are not installed: run "npm ci" first';
const problem = nodeVersion.nodeVersionProblem(process.versions.node) ?? unready;
if (problem !== undefined) {
  process.stderr.write(`mansio: ${problem}\n`);
  process.exit(1);
}

const migrations = 'src/store/postgres/migrations';
const fresh = 'dist.new';
rmSync(fresh, { recursive: true, force: true });
cpSync(migrations, `${fresh}/${migrations}`, { recursive: true });
for (const file of [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'favicon-32x32.png',
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
]) {
  cpSync(`node_modules/swagger-ui-dist/${file}`, `${fresh}/src/gateways/http/routes/swagger-ui/${file}`);
}
const compiler = spawnSync('node_modules/.bin/tsc', ['-p', '.', '--outDir', fresh], { stdio: 'inherit' });
if (compiler.status !== 0) {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(compiler.status ?? 1);
}
rmSync('dist', { recursive: true, force: true });
renameSync(fresh, 'dist');
