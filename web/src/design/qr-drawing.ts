// Makes a QR code of a text in UTF-8, as the path of an SVG: its dark modules as runs of each row, and the quiet zone of four modules around
// them (ISO/IEC 18004).
import { generate, mode } from 'lean-qr';

/** A square of modules. */
interface Modules {
  readonly size: number;
  /** Whether the module is dark. */
  get(x: number, y: number): boolean;
}

const QUIET = 4;

export interface QrDrawing {
  /** The width and height of the drawing, in modules. */
  readonly size: number;
  /** The value of `d`. */
  readonly path: string;
}

/** The octets of the text without a mark of their encoding: scanners take them for UTF-8, and some cannot read the mark. */
export function qrDrawing(text: string): QrDrawing {
  const modules = generate(mode.bytes(new TextEncoder().encode(text)));
  return drawingOf({ size: modules.size, get: (x, y) => modules.get(x, y) });
}

export function drawingOf({ size, get }: Modules): QrDrawing {
  const runs: string[] = [];
  for (let y = 0; y < size; y++) {
    let x = 0;
    while (x < size) {
      const start = x;
      while (x < size && get(x, y)) x++;
      const length = x - start;
      if (length > 0) runs.push(`M${start + QUIET} ${y + QUIET}h${length}v1h-${length}z`);
      else x++;
    }
  }
  return { size: size + 2 * QUIET, path: runs.join('') };
}
