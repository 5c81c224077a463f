import {
  embeddedCss,
  isColoring,
  isConditionAllowed,
  isDeclarationAllowed,
} from '../../../../web/src/message/html/allowed-styles.js';
import test from '../../../support/test.js';

const ALLOWED = [
  ['color', 'rgb(1, 2, 3)'],
  ['width', 'calc(100% - 2px)'],
  ['font-family', '"Segoe UI", Arial, sans-serif'],
  ['background-image', 'linear-gradient(to right, red 0%, rgb(0 0 0 / 50%) 100%)'],
  ['margin-left', '-5px'],
] as const;

const REFUSED = [
  ['position', 'fixed'],
  ['z-index', '2147483647'],
  ['top', '0px'],
  ['transform', 'scale(100)'],
  ['animation-name', 'x'],
  ['content', '"x"'],
  ['behavior', 'url(x)'],
  ['-moz-binding', 'url(x)'],
  ['--x', 'url(https://a.test)'],
  ['color', 'var(--x)'],
  ['width', 'expression(alert(1))'],
  ['background-image', 'url("https://a.test/x.png")'],
  ['background-image', 'image-set("https://a.test/x.png" 1x)'],
  ['background-image', '-webkit-image-set(url("x") 1x)'],
  ['background-image', 'cross-fade(url(x), url(y))'],
  ['background-image', 'src("x")'],
  ['list-style-type', '"</style>"'],
  ['font-family', '"a\\"b"'],
  ['font-family', 'url("x")'],
  ['color', 'red; background: blue'],
  ['color', 'red } body { display: none'],
  ['width', `calc(${'1px + '.repeat(500)}1px)`],
] as const;

for (const [name, value] of ALLOWED) {
  test(`allowed: ${name}: ${value}`, (t) => t.true(isDeclarationAllowed(name, value)));
}
for (const [name, value] of REFUSED) {
  test(`refused: ${name}: ${value.slice(0, 60)}`, (t) => t.false(isDeclarationAllowed(name, value)));
}

test('conditions of media are short and plain', (t) => {
  t.true(isConditionAllowed('only screen and (max-width: 600px)'));
  t.true(isConditionAllowed('(prefers-color-scheme: dark)'));
  for (const condition of ['', 'screen { } * {', '(width < 600px)', '"x"', 'a'.repeat(300)]) {
    t.false(isConditionAllowed(condition));
  }
});

test('CSS cannot end its element', (t) => {
  t.is(embeddedCss('[a="</style>"]'), '[a="\\3c /style>"]');
});

test('a color needs paper, the absence of one does not', (t) => {
  t.true(isColoring('color', 'black'));
  t.true(isColoring('background-color', 'white'));
  t.false(isColoring('background-color', 'transparent'));
  t.false(isColoring('color', 'inherit'));
  t.false(isColoring('width', '1px'));
});
