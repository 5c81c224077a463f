// Hostile styles: whatever loads something, runs something, leaves its element, or lies over the rest of the page.
import { combined, family, type Vector } from './vectors.js';

const DECLARATIONS = [
  'background:url($U)',
  'background-image:u\\72l("$U")',
  'background:\\75\\72\\6c($U)',
  'background:url(/**/$U)',
  'background-image:image-set("$U" 1x)',
  'background-image:-webkit-cross-fade(url($U),url($U),50%)',
  'list-style:url($U);display:list-item',
  'cursor:url($U),auto',
  'border-image:url($U) 30 round',
  'mask:url($U);-webkit-mask-image:url($U)',
  'filter:url($U#f);clip-path:url($U#c)',
  'shape-outside:url($U);float:left',
  '--a:url($U);background:var(--a)',
  'width:expression($JS);behavior:url($U);-moz-binding:url($U)',
];

const SHEETS = [
  '@import "$U";',
  '@import url($U) screen;',
  '@\\69mport "$U";',
  '@import "$U" layer(a) supports(display:grid);',
  '@charset "utf-7";@import \'$U\';',
  '@font-face{font-family:f;src:url($U)} *{font-family:f}',
  '@namespace svg url($U); p::before{content:url($U)}',
  '@media all{p{background:url($U)}} @supports (color:red){p{background:url($U)}} @layer a{p{background:url($U)}}',
  'a[href^="h"]{background:url($U?h)} p:has(a){background:url($U?a)}',
  'p[title="</style><img src=x onerror=$JS>"]{color:red}',
  'p::after{content:"</style><script>$JS</script>"}',
  '@property --u{syntax:"<url>";inherits:true;initial-value:url($U)} p{background:var(--u)}',
  '@page{background:url($U)} @view-transition{navigation:auto}',
  'p{color:red;{}} } body{background:url($U)} <!-- x{background:url($U)} -->',
  '@container (width > 0px){p{background:url($U)}} @scope (body){p{background:url($U)}}',
];

const COVERS = [
  'position:fixed;inset:0;z-index:2147483647',
  'position:absolute;top:-9999px;left:-9999px;width:99999px;height:99999px;z-index:999999',
  'position:sticky;top:0;height:100vh',
  'margin:-2000px;width:9000px;height:9000px',
  'transform:scale(1000) translate(-50%);',
  'zoom:100',
  'width:100vw;height:100vh;outline:9999px solid red;box-shadow:0 0 0 9999px red',
  'p\\6f sition:fi\\78 ed;top:0;left:0;width:100%;height:100%',
];

export const STYLE_VECTORS: readonly Vector[] = [
  ...combined(
    'style',
    ['<p style="$X">text</p>'],
    DECLARATIONS.map((one) => one.replaceAll('"', '&quot;')),
  ),
  ...combined('style', ['<style>$X</style><p title="t">text <a href="https://a.test/">link</a></p>'], SHEETS),
  ...combined('cover', ['<div style="$X"><h1>cover</h1></div>'], COVERS),
  ...family('cover', [
    '<dialog open style="position:fixed;inset:0;width:100%;height:100%">cover</dialog>',
    '<div popover="manual" id="p" style="inset:0">cover</div><button popovertarget="p">x</button>',
    '<style>body::before{content:"";position:fixed;inset:0;z-index:9;background:red}</style>',
    '<style>html{position:fixed;top:-500px;left:-500px;width:5000px;height:5000px;background:red}</style>',
    '<table width="99999" height="99999" bgcolor="red"><tr><td>cover</td></tr></table>',
    '<style>.mansio-destination,*{display:none!important}</style><a href="https://evil.test/">https://bank.test/</a>',
  ]),
];
