// Tests the types of images by their first octets.
import { imageType } from '../../../../src/gateways/http/images/image-type.js';
import test from '../../../support/test.js';

const octets = (text: string): Buffer => Buffer.from(text, 'latin1');
const box = (brands: string, length = 8 + brands.length) => octets(`\0\0\0${String.fromCharCode(length)}ftyp${brands}`);

test('the types that are served', (t) => {
  t.is(imageType(octets('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')), 'image/png');
  t.is(imageType(octets('\xff\xd8\xff\xe0\0\x10JFIF')), 'image/jpeg');
  t.is(imageType(octets('GIF89a\x01\0')), 'image/gif');
  t.is(imageType(octets('GIF87a\x01\0')), 'image/gif');
  t.is(imageType(octets('RIFF\x10\n\r\0WEBPVP8L')), 'image/webp');
  t.is(imageType(box('avif\0\0\0\0mif1')), 'image/avif');
  t.is(imageType(box('avis\0\0\0\0')), 'image/avif');
  t.is(imageType(box('mif1\0\0\0\0mif1miafavif')), 'image/avif');
});

test('everything else is no image', (t) => {
  const others = [
    '',
    '\x89PNG',
    'GIF',
    'GIF88a',
    'RIFF\x10\0\0\0WAVE',
    'RIFFWEBP',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '<?xml version="1.0"?><svg/>',
    '<!doctype html><p>GIF89a',
    ' GIF89a',
    '\xff\xd8',
    'BM\x1e\0',
    '\0\0\x01\0',
    '\x1f\x8b\x08',
    '%PDF-1.7',
  ];
  for (const text of others) t.is(imageType(octets(text)), undefined, text);
  // HEIC, and a box that ends before the brand.
  t.is(imageType(box('heic\0\0\0\0mif1heic')), undefined);
  t.is(imageType(box('mif1\0\0\0\0mif1miafavif', 24)), undefined);
});
