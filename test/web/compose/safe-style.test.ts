// Tests which styles of quoted text stay.
import { safeDeclarations } from '../../../web/src/compose/safe-style.js';
import test from '../../support/test.js';

const kept = (style: string) => safeDeclarations(style).map(([name, value]) => `${name}: ${value}`);

test('the look of text stays; what moves, loads, covers or computes goes', (t) => {
  t.deepEqual(
    kept(
      'COLOR: red !important; background-color:rgb(1, 2, 3);font-family: "Zoë", serif; margin: 0 auto;border:1px solid #ccc;',
    ),
    [
      'color: red',
      'background-color: rgb(1, 2, 3)',
      'font-family: "Zoë", serif',
      'margin: 0 auto',
      'border: 1px solid #ccc',
    ],
  );
  for (const style of [
    'position: fixed',
    'float: left',
    'z-index: 9',
    'background: url(https://evil.test/x)',
    'background-color: url(https://evil.test/x)',
    'color: var(--accent)',
    'width: calc(100vw * 9)',
    'width: expression(alert(1))',
    'color: r\\65 d',
    'color: red/* */',
    'margin-top: -500px',
    'margin: 0 0 -9em',
    'text-indent: -500px',
    'text-indent:  -5em',
    'letter-spacing: -1em',
    'vertical-align: -300px',
    'transform: scale(9)',
    'animation: x 1s',
    'content: "x"',
    'color',
    ': red',
    `font-family: ${'x'.repeat(300)}`,
  ]) {
    t.deepEqual(kept(style), [], style);
  }
});
