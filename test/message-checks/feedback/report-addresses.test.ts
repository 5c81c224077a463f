// Tests where records want reports.
import { reportAddresses } from '../../../src/message-checks/feedback/report-addresses.js';
import test from '../../support/test.js';

const of = (...records: string[]) => reportAddresses(records).map(({ uri, most }) => [uri, most]);

test('URIs of both kinds of records, with sizes', (t) => {
  t.deepEqual(of('v=DMARC1; p=none; rua=mailto:a@b.test!10m, mailto:c%21d@e.test , https://x.test/r'), [
    ['mailto:a@b.test', 10 * 1024 ** 2],
    ['mailto:c%21d@e.test', undefined],
    ['https://x.test/r', undefined],
  ]);
  t.deepEqual(of('v=TLSRPTv1;rua=mailto:a@b.test'), [['mailto:a@b.test', undefined]]);
  t.deepEqual(
    reportAddresses(['v=DMARC1; rua=mailto:c%21d@e.test?subject=x,https://x.test']).map(({ address }) => address),
    ['c!d@e.test', undefined],
  );
});

test('no record, several records, and records without an address', (t) => {
  t.deepEqual(of(), []);
  t.deepEqual(of('v=spf1 -all', 'v=DMARC1; p=none'), []);
  t.deepEqual(of('v=DMARC1; rua=mailto:a@b.test', 'v=DMARC1; rua=mailto:c@d.test'), []);
  t.deepEqual(of('v=DMARC1; rua= , ,'), []);
  t.is(of(`v=DMARC1; rua=${'mailto:a@b.test,'.repeat(1000)}`).length, 20);
});
