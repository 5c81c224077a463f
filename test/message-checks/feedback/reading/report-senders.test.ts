// Tests who counts as the sender of a report, and to which addresses reports may come.

import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { isAddressee, reportSender } from '../../../../src/message-checks/feedback/reading/report-senders.js';
import { type Dns, DnsFailure } from '../../../../src/net/dns/resolver.js';
import test from '../../../support/test.js';

const index = indexMessage(Buffer.from('From: noreply@reports.google.com\r\n\r\n'));
const sender = (dmarc: string, ...passed: string[]) => reportSender(index, { passed, summary: { dmarc } });

test('the sender is authenticated, or there is none', (t) => {
  t.is(sender('pass', 'mail.google.com'), 'google.com');
  t.is(sender('none', 'a.b.evil.test', 'google.com'), 'evil.test');
  t.is(sender('none', 'x.y.co.uk'), 'y.co.uk');
  t.is(sender('none'), undefined);
  t.is(sender('fail', 'evil.test'), undefined);
});

const dns = (texts: Record<string, string>): Dns => ({
  async resolve(name: string) {
    if (texts[name] === 'fails') throw new DnsFailure('ETIMEOUT', name, 'TXT');
    if (texts[name] === undefined) throw new DnsFailure('ENOTFOUND', name, 'TXT');
    return [[texts[name]]] as never;
  },
});

test('reports come to the postmaster, and to the addresses of the records', async (t) => {
  const records = dns({
    '_dmarc.example.test': 'v=DMARC1; p=none; rua=mailto:Reports@example.test!10m,https://x.test',
    '_smtp._tls.sub.example.test': 'v=TLSRPTv1; rua=mailto:tls@example.test',
    '_dmarc.slow.test': 'fails',
  });
  const dmarc = { kind: 'dmarc', domain: 'example.test', hosted: 'example.test' } as const;
  t.true(await isAddressee(records, dmarc, ['anna@example.test', 'Postmaster@Example.Test']));
  t.true(await isAddressee(records, dmarc, ['reports@EXAMPLE.test']));
  t.true(await isAddressee(records, { ...dmarc, domain: 'sub.example.test' }, ['reports@example.test']));
  t.false(await isAddressee(records, dmarc, ['anna@example.test', 'postmaster@other.test']));
  t.false(await isAddressee(records, dmarc, ['tls@example.test']));
  const tls = { kind: 'tls', domain: 'sub.example.test', hosted: 'example.test' } as const;
  t.true(await isAddressee(records, tls, ['tls@example.test']));
  t.false(await isAddressee(records, tls, ['reports@example.test']));
  const slow = { kind: 'dmarc', domain: 'slow.test', hosted: 'slow.test' } as const;
  await t.throwsAsync(isAddressee(records, slow, ['anna@slow.test']), { instanceOf: DnsFailure });
  t.true(await isAddressee(records, slow, ['postmaster@slow.test']));
});
