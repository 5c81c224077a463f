import { inlineAttachments } from '../../../../web/src/message/attachments/inline-attachments.js';
import test from '../../../support/test.js';

const file = (id: string, contentId: string | undefined, sizeBytes = 10) => ({
  id,
  fileName: id,
  contentType: 'image/png',
  size: sizeBytes,
  sizeBytes,
  contentId,
});
const idsOf = (...args: Parameters<typeof inlineAttachments>) =>
  [...inlineAttachments(...args)].map(([contentId, { id }]) => `${contentId} ${id}`);

test('attachments are found by their Content-ID, with or without brackets', (t) => {
  const files = [file('a', 'x@y'), file('b', '<z>'), file('c', undefined)];
  t.deepEqual(idsOf(files, ['z', '<x@y>', 'undefined', 'none']), ['z b', '<x@y> a']);
});

test('a large one is left out, and all after the bound', (t) => {
  const large = Array.from({ length: 5 }, (_, i) => file(`f${i}`, `c${i}`, 4_000_000));
  t.deepEqual(idsOf([file('a', 'x', 6_000_000), ...large], ['x', 'c0', 'c1', 'c2', 'c3', 'c4']), [
    'c0 f0',
    'c1 f1',
    'c2 f2',
  ]);
  const many = Array.from({ length: 100 }, (_, i) => file(`f${i}`, `c${i}`, 1));
  t.is(
    idsOf(
      many,
      many.map(({ contentId }) => contentId!),
    ).length,
    60,
  );
});
