// Tests the size of the page's first load: what index.html names, compressed as browsers get it.
import { readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import test from '../../support/test.js';

const PAGE = 'dist/program/web';
const MOST_BYTES = 150_000;

test('the first load has at most 150 kB', (t) => {
  const html = readFileSync(`${PAGE}/index.html`);
  const files = [...html.toString().matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  t.true(files.some((path) => path.endsWith('.js')) && files.some((path) => path.endsWith('.css')));
  const sizes = files.map((path) => statSync(`${PAGE}${path}.br`).size);
  const bytes = sizes.reduce((sum, size) => sum + size, gzipSync(html).length);
  t.log(`${Math.round(bytes / 1000)} kB`);
  t.true(bytes <= MOST_BYTES, `${bytes} bytes: ${files.map((path, i) => `${path} ${sizes[i]}`).join(', ')}`);
});
