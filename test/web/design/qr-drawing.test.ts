// Tests that the drawing of a QR code has the modules of the code, where they are.
import { generate, mode } from 'lean-qr';
import { drawingOf, qrDrawing } from '../../../web/src/design/qr-drawing.js';
import test from '../../support/test.js';

/** The dark modules of a drawing. */
function darkIn(path: string): Set<string> {
  const dark = new Set<string>();
  for (const [, x, y, length, back] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g)) {
    if (length !== back) throw new Error(path);
    for (let i = 0; i < Number(length); i++) dark.add(`${Number(x) + i},${y}`);
  }
  return dark;
}

test('runs of each row, four modules from the edge', (t) => {
  const rows = ['##.', '..#', '#.#'];
  const { size, path } = drawingOf({ size: 3, get: (x, y) => rows[y]![x] === '#' });
  t.is(size, 11);
  t.is(path, 'M4 4h2v1h-2zM6 5h1v1h-1zM4 6h1v1h-1zM6 6h1v1h-1z');
});

test('an account of many words is a code that is drawn as it is', (t) => {
  const text = JSON.stringify(['é'.repeat(200), 'mansio_'.repeat(20)]);
  const modules = generate(mode.bytes(Buffer.from(text)));
  const { size, path } = qrDrawing(text);
  t.is(size, modules.size + 8);
  const dark = darkIn(path);
  let count = 0;
  for (let y = 0; y < modules.size; y++) {
    for (let x = 0; x < modules.size; x++) {
      t.is(dark.has(`${x + 4},${y + 4}`), modules.get(x, y));
      if (modules.get(x, y)) count++;
    }
  }
  t.is(dark.size, count);
});
