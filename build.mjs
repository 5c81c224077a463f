// Compiles src, test and bench to dist/ and puts the SQL migrations beside the code that reads them.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';

const migrations = 'src/store/postgres/migrations';
rmSync('dist', { recursive: true, force: true });
cpSync(migrations, `dist/${migrations}`, { recursive: true });
const compiler = spawnSync('node_modules/.bin/tsc', ['-p', '.'], { stdio: 'inherit' });
process.exit(compiler.status ?? 1);
