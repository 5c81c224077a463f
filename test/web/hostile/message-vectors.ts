// Hostile messages whose danger is not in their HTML: charsets, headers, names of files, attachments, plain text, links that deceive.
import type { Vector } from './vectors.js';

const IMAGE = '<img src=x onerror="$JS">';
const base64 = (text: string, encoding: BufferEncoding) => Buffer.from(text, encoding).toString('base64');

/** UTF-7 of an image with a handler. */
const UTF7 = '+ADw-img src+AD0-x onerror+AD0AIg-console.log('.concat("'pwned'", ')+ACIAPg-');

const charsets: readonly Vector[] = [
  { html: UTF7, charset: 'utf-7' },
  { html: `<meta charset="utf-7">${UTF7}`, charset: 'utf-8' },
  { html: `<meta http-equiv="content-type" content="text/html; charset=utf-7">${UTF7}`, charset: 'x-unknown' },
  { octets: base64(`\ufeff<p>a</p>${IMAGE}`, 'utf16le'), charset: 'utf-16le' },
  { octets: base64('<p>a \xc0\xbcimg src=x onerror=alert(1)\xc0\xbe</p>', 'latin1'), charset: 'utf-8' },
  { octets: base64('<p title="\xbf">a</p><p title=" onmouseover=alert(1) ">b</p>', 'latin1'), charset: 'gbk' },
  {
    octets: base64('<p title="\x1b$B">a</p>\x1b(B<p title="><img src=x onerror=alert(1)>">b</p>', 'latin1'),
    charset: 'iso-2022-jp',
  },
  { octets: base64('<p>~{<img src=x onerror=alert(1)>~}</p>', 'latin1'), charset: 'hz-gb-2312' },
  { html: IMAGE, charset: '"><script>$JS</script>' },
  { html: IMAGE, charset: 'x-user-defined' },
].map((one) => ({ family: 'charset', ...one }));

const headers: readonly Vector[] = [
  { subject: `Subject <script>$JS</script>${IMAGE}` },
  { subject: '"><img src=x onerror=$JS>' },
  { fromName: '<script>$JS</script>' },
  { fromName: '"\'><svg onload=$JS>' },
  { fromName: 'ann@bank.test\u202e\u2066' },
  { subject: '\u202egnp.exe \u2067\u2067\u2067 covered \u200f' },
  { subject: `Long ${'W'.repeat(900)}` },
  { subject: `Z\u0300${'\u0301'.repeat(400)}algo` },
].map((one) => ({ family: 'header', html: '<p>text</p>', ...one }));

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="$JS"><script>$JS</script><image href="$U"/></svg>';
const CALENDAR = [
  'BEGIN:VCALENDAR',
  'METHOD:REQUEST',
  'BEGIN:VEVENT',
  'UID:1',
  'DTSTART:20261203T100000Z',
  'DTEND:20261203T110000Z',
  'SUMMARY:<img src=x onerror=$JS>',
  'LOCATION:javascript:$JS',
  'URL:javascript:$JS',
  'ORGANIZER;CN="<script>$JS</script>":javascript:$JS',
  'ATTACH:$U',
  'RRULE:FREQ=SECONDLY',
  'END:VEVENT',
  'END:VCALENDAR',
].join('\r\n');

const attachments: readonly Vector[] = [
  { attachments: [{ type: 'text/html', name: 'a.html', content: '<script>$JS</script>' }] },
  { attachments: [{ type: 'image/svg+xml', name: 'a.svg', content: SVG }] },
  { attachments: [{ type: 'image/png', name: '"><img src=x onerror=$JS>.png', content: SVG }] },
  { attachments: [{ type: 'application/pdf', name: '../../etc/passwd\u202efdp.exe', content: '%PDF-1.4 $JS' }] },
  { attachments: [{ type: 'text/calendar; method=REQUEST', name: 'invite.ics', content: CALENDAR }] },
  {
    attachments: [
      {
        type: 'text/calendar; method="<b>"',
        name: 'i.ics',
        content: `BEGIN:VCALENDAR\r\n${'BEGIN:X\r\n'.repeat(5000)}`,
      },
    ],
  },
  {
    html: '<img src="cid:x"><img src="CID:x">',
    attachments: [{ type: 'image/svg+xml', name: 'x.svg', contentId: 'x', content: SVG }],
  },
  {
    html: '<img src="cid:x"><iframe src="cid:x"></iframe>',
    attachments: [{ type: 'text/html', name: 'x.html', contentId: 'x', content: '<script>$JS</script>' }],
  },
  {
    html: '<img src="cid:x%22%3E%3Cimg src=x onerror=$JS%3E"><img src="cid:../../api/sessions">',
    attachments: [{ type: 'image/png', name: 'x.png', contentId: '../../api/sessions', content: 'x' }],
  },
].map((one) => ({ family: 'attachment', html: '<p>text</p>', ...one }));

const texts: readonly Vector[] = [
  { text: `${IMAGE}\n<script>$JS</script>` },
  { text: 'javascript:$JS\n<javascript:$JS> JAVASCRIPT:$JS\ndata:text/html,<script>$JS</script>' },
  { text: 'http://a.test/"onmouseover="$JS" and http://a.test/<script>$JS</script> and http://x:y@$H/' },
  { text: `${'> '.repeat(3000)}deep\n${'>'.repeat(20_000)}` },
  { text: `${'http://a.test/('.repeat(3000)} www.${'a.'.repeat(3000)}test` },
].map((one) => ({ family: 'text', ...one }));

const deceptions: readonly Vector[] = [
  '<a href="https://$H/login">https://bank.test/login</a>',
  '<a href="https://bank.test@$H/">bank.test</a>',
  '<a href="https://$H/"><b>www.</b><i>bank</i>.test</a>',
  '<a href="https://$H/" title="https://bank.test/">b\u200bank.test</a>',
  '<a href="$U" onclick="location=\'$U\'" style="display:block;width:100%;height:2000px">&nbsp;</a>',
].map((html) => ({ family: 'deception', html }));

export const MESSAGE_VECTORS: readonly Vector[] = [...charsets, ...headers, ...attachments, ...texts, ...deceptions];
