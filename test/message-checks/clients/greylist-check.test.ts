// Tests which mail is doubtful, and what an answer of the greylist means for it.
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { CheckChain } from '../../../src/message-checks/check-chain.js';
import { type Greylist, greylistCheck, greylistNetwork } from '../../../src/message-checks/clients/greylist-check.js';
import type { CheckedMessage, Verdict } from '../../../src/message-checks/content-check.js';
import { patientDns } from '../../support/peers/patient-dns.js';
import test from '../../support/test.js';
import { silent } from '../mailauth/peers.js';

type Asked = Parameters<Greylist['ask']>[0];

interface Case {
  readonly address?: string;
  readonly recipients?: readonly string[];
  readonly spf?: string;
  readonly passed?: readonly string[];
  /** What the check before says. */
  readonly before?: Verdict;
}

const named = { resolve: async () => ['mail.peer.test'] as never };

function greylisting(answer: Awaited<ReturnType<Greylist['ask']>> | 'fault' = 'waiting', dns = named as never) {
  const asked: Asked[] = [];
  const check = greylistCheck(
    {
      async ask(mail) {
        asked.push(mail);
        if (answer === 'fault') throw new Error('no database');
        return answer;
      },
    },
    dns,
  );
  async function judge({ address, recipients, spf = 'none', passed = [], before }: Case = {}) {
    const first = { name: 'first', deadlineMs: 1_000, onFault: 'skip' as const, check: () => before! };
    const chain = new CheckChain(before === undefined ? [check] : [first, check], silent);
    const authenticated = { field: '', failedPolicy: 'none' as const, summary: { spf }, passed };
    const message: CheckedMessage = { authenticated, chunks: () => [] };
    const envelope = { id: 'T1', sender: 'a@peer.test', recipients: recipients ?? ['ann@example.test'] };
    const peer = { remoteAddress: address ?? '192.0.2.9', helo: 'p', accountId: undefined, user: undefined };
    return (await chain.judge(message, envelope, peer)).verdict;
  }
  return { asked, judge };
}

test('mail is doubtful when a check doubts it or calls it junk, and when SPF fails; other mail is not asked about', async (t) => {
  const { asked, judge } = greylisting();
  t.is(await judge(), 'accept');
  for (const spf of ['pass', 'neutral', 'temperror', 'permerror']) t.is(await judge({ spf }), 'accept');
  t.is(await judge({ before: { verdict: 'accept' } }), 'accept');
  t.is(asked.length, 0);
  t.is(await judge({ spf: 'fail' }), 'defer');
  t.is(await judge({ spf: 'softfail' }), 'defer');
  t.is(await judge({ before: { verdict: 'accept', isDoubtful: true } }), 'defer');
  t.is(await judge({ before: { verdict: 'junk' }, passed: ['peer.test'] }), 'defer');
  t.deepEqual(asked.at(-1), {
    network: '192.0.2.0/24',
    domains: ['peer.test'],
    sender: 'a@peer.test',
    recipients: ['ann@example.test'],
  });
});

test('an address without a name is doubtful; when DNS gives no answer, nothing is known', async (t) => {
  const dns = await startDnsServer({
    '9.2.0.192.in-addr.arpa': { PTR: ['mail.peer.test'] },
    '7.2.0.192.in-addr.arpa': { rcode: 'SERVFAIL' },
  });
  t.teardown(() => dns.close());
  const { judge } = greylisting('waiting', patientDns(dns) as never);
  t.is(await judge({ address: '192.0.2.9' }), 'accept');
  t.is(await judge({ address: '192.0.2.8' }), 'defer');
  t.is(await judge({ address: '192.0.2.7' }), 'accept');
});

test('private addresses and mail for the postmaster alone are not asked about', async (t) => {
  const { asked, judge } = greylisting();
  for (const address of ['127.0.0.1', '10.0.0.1', '::1']) t.is(await judge({ address, spf: 'fail' }), 'accept');
  t.is(await judge({ recipients: ['postmaster@example.test'], spf: 'fail' }), 'accept');
  t.is(asked.length, 0);
});

test('what is known or tried again passes, and so does everything when the greylist cannot be asked', async (t) => {
  for (const answer of ['known', 'retried', 'full', 'fault'] as const)
    t.is(await greylisting(answer).judge({ spf: 'fail' }), 'accept', answer);
  t.is(await greylisting('waiting').judge({ spf: 'fail' }), 'defer');
  // Junk that has been tried again is still junk.
  t.is(await greylisting('retried').judge({ before: { verdict: 'junk' } }), 'junk');
});

test('the servers of a network count as one', (t) => {
  t.is(greylistNetwork('192.0.2.9'), '192.0.2.0/24');
  t.is(greylistNetwork('2001:db8:1:2:3::4'), '2001:db8:1:2::/64');
});
