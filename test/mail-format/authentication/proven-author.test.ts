// Tests which mail is taken for that of its author: DMARC says it, or where the domain has no policy, SPF or a signature of the very domain.
import { isAuthorProven } from '../../../src/mail-format/authentication/proven-author.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import test from '../../support/test.js';

const from = (value: string) => indexMessage(Buffer.from(`From: ${value}\r\n\r\nhello\r\n`));
const ANN = from('Ann <ann@friend.test>');

test('an author is proven by DMARC, or by the own domain where it has no policy', (t) => {
  t.true(isAuthorProven({ summary: { dmarc: 'pass' }, passed: ['mailer.friend.test'] }, ANN));
  t.true(isAuthorProven({ summary: { dmarc: 'none' }, passed: ['host.test', 'friend.test'] }, ANN));
  t.true(isAuthorProven({ summary: { dmarc: 'none' }, passed: ['friend.test'] }, from('ann@Friend.TEST')));
});

test('what may have a forged author proves nothing', (t) => {
  t.false(isAuthorProven(undefined, ANN), 'mail that was not checked');
  t.false(isAuthorProven({ summary: { dmarc: 'none' }, passed: ['evil.test', 'mailer.friend.test'] }, ANN));
  for (const dmarc of ['fail', 'temperror', 'permerror'])
    t.false(isAuthorProven({ summary: { dmarc }, passed: ['friend.test'] }, ANN), dmarc);
  // DMARC passes for one of the authors, who has added the other.
  const two = from('eve@evil.test, ann@friend.test');
  t.false(isAuthorProven({ summary: { dmarc: 'pass' }, passed: ['evil.test'] }, two));
  t.false(isAuthorProven({ summary: { dmarc: 'pass' }, passed: ['evil.test'] }, from('')));
});
