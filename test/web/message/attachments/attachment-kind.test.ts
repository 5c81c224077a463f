import { imageType, kindOf } from '../../../../web/src/message/attachments/attachment-kind.js';
import test from '../../../support/test.js';

const KINDS = [
  ['image/png', 'image', 'image'],
  ['IMAGE/JPEG; name=x', 'image', 'image'],
  ['image/svg+xml', 'image', undefined],
  ['application/pdf', 'file-text', 'pdf'],
  ['text/plain', 'file-text', 'text'],
  ['text/html', 'file-text', 'text'],
  ['text/calendar', 'calendar', 'text'],
  ['application/msword', 'file-text', undefined],
  ['audio/mpeg', 'music', undefined],
  ['message/rfc822', 'mail', undefined],
  ['application/octet-stream', 'file', undefined],
  ['', 'file', undefined],
] as const;

for (const [contentType, icon, view] of KINDS) {
  test(`an attachment of ${contentType || 'no type'}`, (t) => {
    t.deepEqual(kindOf({ contentType }), view === undefined ? { icon } : { icon, view });
  });
}

const octets = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));

test('an image is one by its first bytes, whatever its sender says', (t) => {
  t.is(imageType(octets('\x89PNG\r\n\x1a\n....')), 'image/png');
  t.is(imageType(octets('\xff\xd8\xff\xe0')), 'image/jpeg');
  t.is(imageType(octets('GIF89a')), 'image/gif');
  t.is(imageType(octets('RIFF\0\x0a\0\0WEBPVP8 ')), 'image/webp');
  t.is(imageType(octets('\0\0\0 ftypavif')), 'image/avif');
  for (const other of ['', '<svg xmlns', 'GIF8', '<!doctype html>', 'RIFF1234WAVE', ' \x89PNG\r\n\x1a\n']) {
    t.is(imageType(octets(other)), undefined);
  }
});
