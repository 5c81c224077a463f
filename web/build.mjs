// Builds the page: `web/page/` of a dist gets index.html and `assets/`, whose names have hashes, each with a .br and a .gz beside it. The
// style sheets of index.html get the placeholder that the server replaces by the nonce of each reply. The service worker gets the list of all
// files, and a name of the version that changes with each of them. `licenses.txt` has the licences of the packages in the page.
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { build } from 'vite';
import { LICENSES, licensesOfPage } from './licenses.mjs';

const WORKER = 'service-worker.js';
const COMPRESSED = /\.(?:js|css|svg|html|json|txt|webmanifest)$/;

/** `dist`: gets the folder `web/page`. */
export async function buildWeb(dist) {
  const outDir = resolve(dist, 'web/page');
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  await build({
    root: 'web',
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    define: { PRODUCT_VERSION: JSON.stringify(version) },
    plugins: [licensesOfPage()],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      // They have light-dark() and dialogs.
      target: ['chrome123', 'firefox128', 'safari17.5'],
      // What is inlined as a `data:` URL is in every load of the page, and no policy allows it.
      assetsInlineLimit: 0,
      // The polyfill is an inline script.
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
  const page = join(outDir, 'index.html');
  writeFileSync(page, withNonce(readFileSync(page, 'utf8')));
  const names = readdirSync(join(outDir, 'assets')).sort();
  await buildWorker(outDir, names);
  compress(join(outDir, LICENSES));
  for (const name of names) compress(join(outDir, 'assets', name));
  compress(join(outDir, WORKER));
  // Push messages name them.
  cpSync('web/icons', join(outDir, 'icons'), { recursive: true });
}

async function buildWorker(outDir, names) {
  const hash = createHash('sha256')
    .update(names.join())
    .update(readFileSync(join(outDir, 'index.html')));
  const version = { name: hash.digest('hex').slice(0, 16), files: names.map((name) => `/assets/${name}`) };
  await bundle({
    entryPoints: ['web/worker/service-worker.ts'],
    outfile: join(outDir, WORKER),
    define: { PAGE_VERSION: JSON.stringify(version) },
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['chrome123', 'firefox128', 'safari17.5'],
  });
}

function withNonce(html) {
  const parts = html.split('<link rel="stylesheet"');
  if (parts.length < 2) throw new Error('index.html of the page is to have a style sheet');
  return parts.join('<link rel="stylesheet" nonce="%STYLE_NONCE%"');
}

function compress(file) {
  if (!COMPRESSED.test(file)) return;
  const content = readFileSync(file);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
}
