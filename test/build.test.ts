// Tests the build in a small clone: unchanged work is skipped, and an incomplete dist is built again.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { temporaryDirectory } from '../dev/temporary-directory.js';
import test from './support/test.js';

const MIGRATION = 'src/store/postgres/migrations/0001_zoë.sql';
const PAGE = "import './page.css';\ndocument.title = 'Zoë';\n";
const WORKER = 'declare const PAGE_VERSION: object;\nconsole.log(PAGE_VERSION);\n';

function smallClone() {
  const clone = temporaryDirectory('mansio-build-');
  for (const file of [
    'bin',
    'build.mjs',
    'bundle.mjs',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'web/build.mjs',
    'web/icons',
    'web/tsconfig.json',
    'web/worker/tsconfig.json',
    'web/licenses.mjs',
    'web/src/design/icons.LICENSE',
  ])
    cpSync(file, join(clone, file), { recursive: true });
  symlinkSync(resolve('node_modules'), join(clone, 'node_modules'));
  for (const folder of [
    'bench',
    'dev',
    'test',
    'src/cli',
    'src/message-content/decode',
    'src/store/postgres/migrations',
    'web/src',
  ])
    mkdirSync(join(clone, folder), { recursive: true });
  writeFileSync(join(clone, MIGRATION), 'select 1;');
  writeFileSync(join(clone, 'src/zoe.ts'), "export const name = 'Zoë 💌';\n");
  writeFileSync(join(clone, 'src/cli/main.ts'), 'import { name } from "../zoe.js";\n\nconsole.log(name);\n');
  writeFileSync(join(clone, 'src/message-content/decode/worker.ts'), '');
  writeFileSync(join(clone, 'src/gone.ts'), 'export const isGone = true;\n');
  writeFileSync(join(clone, 'web/index.html'), '<!doctype html><script type="module" src="/src/main.ts"></script>');
  writeFileSync(join(clone, 'web/src/page.css'), 'body { color: red; }');
  writeFileSync(join(clone, 'web/src/files.d.ts'), "declare module '*.css';\n");
  writeFileSync(join(clone, 'web/src/main.ts'), PAGE);
  writeFileSync(join(clone, 'web/worker/service-worker.ts'), WORKER);
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

test('the page is built when web or the client has changed: with hashes, compressed files, and the place of the nonce', (t) => {
  const { at, build } = smallClone();
  const page = () => readFileSync(at('dist/program/web/index.html'), 'utf8');
  t.is(typeof build(), 'number');
  const first = page();
  t.regex(first, /<link rel="stylesheet" nonce="%STYLE_NONCE%"[^>]* href="\/assets\/index-[\w-]+\.css">/);
  const [, script] = /src="(\/assets\/index-[\w-]+\.js)"/.exec(first) ?? [];
  const content = readFileSync(at(`dist/program/web${script}`));
  t.deepEqual(brotliDecompressSync(readFileSync(at(`dist/program/web${script}.br`))), content);
  t.deepEqual(gunzipSync(readFileSync(at(`dist/program/web${script}.gz`))), content);
  const worker = readFileSync(at('dist/program/web/service-worker.js'), 'utf8');
  t.true(worker.includes(script!));
  writeFileSync(at('dist/web/page/kept'), '');

  writeFileSync(at('src/zoe.ts'), "export const name = 'Zoé';\n");
  t.is(typeof build(), 'number');
  t.is(page(), first);
  t.true(existsSync(at('dist/web/page/kept')));

  writeFileSync(at('web/src/main.ts'), `${PAGE}document.body.append('Zoé');\n`);
  t.is(typeof build(), 'number');
  t.not(page(), first);
  t.not(readFileSync(at('dist/program/web/service-worker.js'), 'utf8'), worker);
  t.false(existsSync(at(`dist/program/web${script}`)));
  t.false(existsSync(at('dist/web/page/kept')));
  writeFileSync(at('web/src/main.ts'), `${PAGE}document.titel = '';\n`);
  t.regex(String(build()), /web\/src\/main\.ts.*error TS2551/);
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
