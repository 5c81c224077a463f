// Tests the build in a small clone: unchanged work is skipped, and an incomplete dist is built again.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryDirectory } from '../dev/temporary-directory.js';
import test from './support/test.js';

const MIGRATION = 'src/store/postgres/migrations/0001_zoë.sql';

function smallClone() {
  const clone = temporaryDirectory('mansio-build-');
  for (const file of ['bin', 'build.mjs', 'bundle.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'])
    cpSync(file, join(clone, file), { recursive: true });
  symlinkSync(resolve('node_modules'), join(clone, 'node_modules'));
  for (const folder of [
    'bench',
    'dev',
    'test',
    'src/cli',
    'src/message-content/decode',
    'src/store/postgres/migrations',
  ])
    mkdirSync(join(clone, folder), { recursive: true });
  writeFileSync(join(clone, MIGRATION), 'select 1;');
  writeFileSync(join(clone, 'src/zoe.ts'), "export const name = 'Zoë 💌';\n");
  writeFileSync(join(clone, 'src/cli/main.ts'), 'import { name } from "../zoe.js";\n\nconsole.log(name);\n');
  writeFileSync(join(clone, 'src/message-content/decode/worker.ts'), '');
  writeFileSync(join(clone, 'src/gone.ts'), 'export const isGone = true;\n');
  const at = (path: string) => join(clone, path);
  const build = () => {
    const { status, stderr, stdout } = spawnSync(process.execPath, ['build.mjs'], { cwd: clone, encoding: 'utf8' });
    return status === 0 ? statSync(at('dist')).ino : `${stdout}${stderr}`;
  };
  return { clone, at, build };
}

test('a build is skipped when nothing has changed, and made again when anything has', (t) => {
  const { at, build } = smallClone();
  const first = build();
  t.is(typeof first, 'number', String(first));
  t.is(build(), first);
  writeFileSync(at(MIGRATION), 'select 2;');
  const second = build();
  t.not(second, first);
  t.is(readFileSync(at(`dist/${MIGRATION}`), 'utf8'), 'select 2;');
  t.is(readFileSync(at('dist/program/migrations/0001_zoë.sql'), 'utf8'), 'select 2;');
  rmSync(at('src/gone.ts'));
  const third = build();
  t.not(third, second);
  t.false(existsSync(at('dist/src/gone.js')));
  writeFileSync(at('src/zoe.ts'), "export const name = 'Zoé';\n");
  t.not(build(), third);
  t.is(spawnSync(process.execPath, [at('bin/mansio')], { encoding: 'utf8' }).stdout, 'Zoé\n');
});

/** The program is killed when it has removed a part of the previous dist. */
const KILLED = `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { rmSync } = fs;
  fs.rmSync = (path, options) => {
    rmSync(path === 'dist' ? 'dist/src' : path, options);
    if (path === 'dist') process.kill(process.pid, 'SIGKILL');
  };
  syncBuiltinESMExports();`;

test('a dist of which a killed build has left a part is made again', (t) => {
  const { clone, at, build } = smallClone();
  t.is(typeof build(), 'number');
  const source = readFileSync(at('src/zoe.ts'));
  writeFileSync(at('src/zoe.ts'), "export const name = 'Zoe';\n");
  t.is(
    spawnSync(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(KILLED)}`, 'build.mjs'], {
      cwd: clone,
    }).signal,
    'SIGKILL',
  );
  t.false(existsSync(at('dist/src')));
  writeFileSync(at('src/zoe.ts'), source);
  t.is(typeof build(), 'number');
  t.regex(readFileSync(at('dist/src/zoe.js'), 'utf8'), /Zoë/);
  t.is(spawnSync(process.execPath, [at('bin/mansio')], { encoding: 'utf8' }).stdout, 'Zoë 💌\n');
});

test('without a compiler a dist that is there stays, and without one a line says what to run', (t) => {
  const { clone, at } = smallClone();
  rmSync(at('node_modules'));
  const build = () => {
    const { status, stderr, stdout } = spawnSync(process.execPath, ['build.mjs'], { cwd: clone, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  const { status, output } = build();
  t.is(status, 1);
  t.regex(output, /^mansio: there is no dist\/ [^\n]*"npm ci"[^\n]*"npm run package"[^\n]*\n$/);
  t.false(existsSync(at('dist')));
  mkdirSync(at('dist/program'), { recursive: true });
  writeFileSync(at('dist/program/main.js'), 'kept');
  writeFileSync(at('src/new.ts'), 'export const isNew = true;\n');
  t.deepEqual(build(), { status: 0, output: '' });
  t.is(readFileSync(at('dist/program/main.js'), 'utf8'), 'kept');
});
