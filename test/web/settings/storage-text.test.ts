// Tests what the settings say of a quota.
import { setLanguage } from '../../../web/src/i18n/t.js';
import { isScarce, storageLines } from '../../../web/src/settings/storage-text.js';
import test from '../../support/test.js';

test('use and limits are told in words, and a mailbox that is nearly full is marked', async (t) => {
  await setLanguage(['en']);
  const texts = (bytes: number | null, messages: number | null) =>
    storageLines({ bytes: { used: 412_000, limit: bytes }, messages: { used: 1, limit: messages } }).map((line) => [
      line.text,
      isScarce(line),
    ]);
  t.deepEqual(texts(null, null), [
    ['412 kB in use', false],
    ['1 email', false],
  ]);
  t.deepEqual(texts(1_000_000, 1), [
    ['412 kB of 1 MB in use', false],
    ['1 of 1 email', true],
  ]);
  t.deepEqual(texts(400_000, 1_000), [
    ['412 kB of 400 kB in use', true],
    ['1 of 1,000 emails', false],
  ]);
  await setLanguage(['de']);
  t.deepEqual(texts(1_000_000, null)[0], ['412 kB von 1 MB belegt', false]);
});
