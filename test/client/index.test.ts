// Tests `mansio/client` as other people import it: it is made for browsers, small, and its types stand for themselves.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import test from '../support/test.js';

/** The size of the client with what it uses of rxjs, without SignalR. */
const MOST_BYTES = 25_000;

const bundle = async (contents: string) => {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: '.' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: ['@microsoft/signalr'],
    write: false,
    metafile: true,
  });
  return { code: outputFiles[0]!.contents, inputs: Object.keys(metafile.inputs) };
};

test('the client is at most 25 kB compressed, with rxjs and without SignalR, and needs nothing else', async (t) => {
  const { code, inputs } = await bundle(`import { createClient } from 'mansio/client'; createClient();`);
  const size = gzipSync(code, { level: 9 }).length;
  t.log(`${size} bytes`);
  t.true(size <= MOST_BYTES, String(size));
  t.true(size > 5_000, String(size));
  const foreign = inputs.filter((path) => !/^(dist\/client\/|node_modules\/(rxjs|tslib)\/|<stdin>)/.test(path));
  t.deepEqual(foreign, []);
});

test('a page that uses only the errors loads only these', async (t) => {
  const { code } = await bundle(`import { Refusal } from 'mansio/client'; globalThis.Refusal = Refusal;`);
  t.true(code.length < 3_000, String(code.length));
});

test('a program of somebody else compiles with its types, in a browser and in Node.js', (t) => {
  const folder = temporaryDirectory('mansio-client-types-');
  mkdirSync(join(folder, 'node_modules/@microsoft'), { recursive: true });
  for (const name of ['rxjs', '@microsoft/signalr'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  symlinkSync(resolve('.'), join(folder, 'node_modules/mansio'));
  const text = readFileSync('test/docs/example-client.ts', 'utf8').replace(
    '../../src/client/index.js',
    'mansio/client',
  );
  writeFileSync(join(folder, 'page.ts'), `${text}\nexport const wrong: number = liveInbox;\n`);
  const check = (...lib: readonly string[]) =>
    spawnSync(
      resolve('node_modules/.bin/tsc'),
      [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--module',
        'esnext',
        '--moduleResolution',
        'bundler',
        '--types',
        '',
        '--lib',
        lib.join(),
        'page.ts',
      ],
      { cwd: folder, encoding: 'utf8' },
    ).stdout;
  t.regex(check('es2022', 'dom'), /^page\.ts\(\d+,\d+\): error TS2322[^\n]*\n$/);
  t.true(readdirSync('dist/client').includes('index.d.ts'));
});
