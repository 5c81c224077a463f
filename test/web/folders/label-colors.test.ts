// Tests that the colours of labels can be seen in both themes, against the backgrounds of tokens.css.
import { readFileSync } from 'node:fs';
import { LABEL_COLORS, nextColor } from '../../../web/src/folders/label-colors.js';
import test from '../../support/test.js';

/** WCAG 2.2, 1.4.11. */
const LEAST_CONTRAST = 3;
const BACKGROUNDS = ['background', 'panel', 'sunk', 'hover', 'tint'];

type Rgb = readonly [number, number, number];

/** OKLab to linear sRGB, as CSS Color 4 has it. */
function fromOklch(lightness: number, chroma: number, hue: number): Rgb {
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function fromHex(color: string): Rgb {
  const linear = (at: number) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [linear(1), linear(3), linear(5)];
}

const luminance = ([r, g, b]: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}

/** Both values of a token. */
function themesOf(token: string): Rgb[] {
  const css = readFileSync('web/src/design/tokens.css', 'utf8');
  const [, value = ''] = new RegExp(`--${token}: light-dark\\((.*)\\);`).exec(css) ?? [];
  const read = value.match(/white|oklch\([^)]*\)/g)?.map((color) => {
    if (color === 'white') return fromHex('#ffffff');
    const [lightness, chroma, hue] = color.match(/[\d.]+/g)!.map(Number);
    return fromOklch(lightness! / 100, chroma!, hue!);
  });
  return read ?? [];
}

test('every colour stands out from every background of both themes', (t) => {
  for (const token of BACKGROUNDS) {
    const themes = themesOf(token);
    t.is(themes.length, 2, token);
    for (const { color } of LABEL_COLORS) {
      for (const background of themes) {
        const ratio = contrast(fromHex(color), background);
        t.true(ratio >= LEAST_CONTRAST, `${color} on ${token}: ${ratio.toFixed(2)}`);
      }
    }
  }
});

test('a new label gets the colour that the fewest have', (t) => {
  const [first, second] = LABEL_COLORS;
  t.is(nextColor([]), first.color);
  t.is(nextColor([{ color: first.color.toUpperCase() }, { color: null }]), second.color);
  t.is(nextColor([...LABEL_COLORS, { color: first.color }]), second.color);
});
