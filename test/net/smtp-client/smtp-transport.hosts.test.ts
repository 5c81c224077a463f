// Tests where mail goes, with real DNS and real servers: the order of hosts, what leads to the next one, and domains without any.
import { scripted } from '../../../dev/servers/remote-smtp.js';
import type { Dns } from '../../../src/net/dns/resolver.js';
import { mailExchangers } from '../../../src/net/smtp-client/mail-exchangers.js';
import test from '../../support/test.js';
import { kinds, MX1, MX2, only, tried, world } from './client-world.js';

test('a dead first host leads to the next, and back to the best when it lives', async (t) => {
  const { remote, deliver } = await world(t, {
    zones: {
      'remote.test': {
        MX: [
          [20, 'mx2.remote.test'],
          [10, 'mx1.remote.test'],
        ],
      },
      'mx1.remote.test': MX1,
      'mx2.remote.test': MX2,
    },
  });
  const second = await remote('127.0.0.3');
  const report = await deliver('remote.test');
  t.is(only(report), 'delivered 2.0.0');
  t.deepEqual(tried(report), ['mx1.remote.test 127.0.0.2', 'mx2.remote.test 127.0.0.3']);
  t.is(report.attempts[0]!.recipients[0]!.outcome, 'temporary');
  t.is(report.attempts[0]!.recipients[0]!.statusCode, '4.4.1');
  const first = await remote('127.0.0.2');
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
  t.deepEqual([first.messages.length, second.messages.length], [1, 1]);
});

test('hosts of one priority are tried in the order that is drawn', async (t) => {
  const records = [
    { priority: 20, exchange: 'last.test' },
    { priority: 10, exchange: 'A.test' },
    { priority: 10, exchange: 'b.test.' },
    { priority: 10, exchange: 'c.test' },
    { priority: 30, exchange: 'a.test' },
    { priority: 1, exchange: 'not a host' },
  ];
  const dns = { resolve: async () => records } as unknown as Dns;
  const order = async (...draws: number[]) => {
    const hosts = await mailExchangers(dns, 'x.test', () => draws.shift()!);
    return 'fault' in hosts ? hosts.fault : hosts.map(({ host }) => host.replace('.test', '')).join(' ');
  };
  t.is(await order(0.5, 0.1, 0.2, 0.3), 'a b c last');
  t.is(await order(0.5, 0.9, 0.2, 0.3), 'b c a last');
  t.is(await order(0.5, 0.5, 0.6, 0.1), 'c a b last');
});

test('temporary refusals lead to the next host, permanent ones do not', async (t) => {
  const { remote, deliver } = await world(t, {
    zones: {
      'remote.test': {
        MX: [
          [10, 'mx1.remote.test'],
          [20, 'mx2.remote.test'],
        ],
      },
      'mx1.remote.test': MX1,
      'mx2.remote.test': MX2,
    },
  });
  await remote('127.0.0.2', {
    behaviour: {
      rcpt: (address) =>
        address.startsWith('grey') ? '450 4.2.0 later' : address.startsWith('no') ? '550 no' : undefined,
    },
  });
  const second = await remote('127.0.0.3');
  const report = await deliver('remote.test', ['a', 'grey', 'no']);
  t.deepEqual(kinds(report), { a: 'delivered 2.0.0', grey: 'delivered 2.0.0', no: 'permanent 5.1.1' });
  t.deepEqual(second.messages[0]!.recipients, ['grey@remote.test']);
  t.is(report.attempts.length, 2);
});

test('a greeting of 5xx leads to the next host, and fails when there is none', async (t) => {
  const { remote, bare, deliver } = await world(t, {
    zones: {
      'two.test': {
        MX: [
          [10, 'mx1.remote.test'],
          [20, 'mx2.remote.test'],
        ],
      },
      'one.test': { MX: [[10, 'mx1.remote.test']] },
      'mx1.remote.test': MX1,
      'mx2.remote.test': MX2,
    },
  });
  await bare('127.0.0.2', scripted({ greeting: '554 5.3.2 no mail here' }));
  await remote('127.0.0.3');
  t.is(only(await deliver('two.test')), 'delivered 2.0.0');
  t.is(only(await deliver('one.test')), 'permanent 5.3.2');
});

test('no way to a domain: null MX, no domain, no host, DNS that is silent or broken', async (t) => {
  const { deliver, remote } = await world(t, {
    zones: {
      'null.test': { MX: [[0, '']] },
      'lost.test': { MX: [[10, 'gone.lost.test']] },
      'empty.test': { TXT: ['nothing else'] },
      'broken.test': { rcode: 'SERVFAIL' },
      'half.test': {
        MX: [
          [10, 'broken.test'],
          [20, 'mx1.remote.test'],
        ],
      },
      'mx1.remote.test': MX1,
    },
  });
  t.is(only(await deliver('null.test')), 'permanent 5.1.10');
  t.is(only(await deliver('nowhere.test')), 'permanent 5.1.2');
  t.is(only(await deliver('lost.test')), 'permanent 5.4.4');
  t.is(only(await deliver('empty.test')), 'permanent 5.1.2');
  t.is(only(await deliver('broken.test')), 'temporary 4.4.3');
  const impatient = await world(t, { dnsTimeoutMs: 500, zones: { 'silent.test': { silent: true } } });
  t.is(only(await impatient.deliver('silent.test')), 'temporary 4.4.3');
  await remote('127.0.0.2');
  t.is(only(await deliver('half.test')), 'delivered 2.0.0');
});

test('a domain without MX is its own host, and literals need no DNS', async (t) => {
  const { deliver, remote, dns } = await world(t, { zones: { 'implicit.test': { A: ['127.0.0.4'] } } });
  const mx = await remote('127.0.0.4');
  const report = await deliver('implicit.test');
  t.deepEqual(tried(report), ['implicit.test 127.0.0.4']);
  const asked = dns.asked.length;
  t.is(only(await deliver('[127.0.0.4]')), 'delivered 2.0.0');
  t.is(dns.asked.length, asked);
  t.deepEqual(mx.messages.at(-1)!.recipients, ['b@[127.0.0.4]']);
  t.is(only(await deliver('[ipv6:fffff::1]')), 'permanent 5.1.3');
});

test('private addresses are refused unless they are allowed', async (t) => {
  const zones = {
    'v4.test': { A: ['10.1.2.3'] },
    'loop.test': { A: ['127.0.0.2'] },
    'v6.test': { AAAA: ['fe80::1'] },
    'mapped.test': { AAAA: ['::ffff:127.0.0.1'] },
    'zero.test': { A: ['0.0.0.0'] },
    'cast.test': { A: ['224.0.0.1'] },
  };
  const { deliver, remote } = await world(t, { zones, allowPrivate: false });
  const mx = await remote('127.0.0.2');
  for (const domain of [...Object.keys(zones), '[127.0.0.2]', '[ipv6:::1]']) {
    const report = await deliver(domain);
    t.is(only(report), 'permanent 5.4.6', domain);
    // Senders see both fields, so they do not reveal what a name resolves to.
    const [{ remoteAddress, reply }] = report.attempts as [(typeof report.attempts)[number]];
    t.deepEqual([remoteAddress, reply], [null, `${domain} has no public address`]);
  }
  t.is(mx.connections, 0);
});

test('mail never comes back to this host', async (t) => {
  const { deliver, remote, port } = await world(t, {
    zones: {
      'name.test': { MX: [[10, 'MAIL.sender.test']] },
      'backup.test': {
        MX: [
          [10, 'mail.sender.test'],
          [20, 'mx2.remote.test'],
        ],
      },
      'better.test': {
        MX: [
          [10, 'mail.sender.test'],
          [5, 'mx2.remote.test'],
        ],
      },
      'mx2.remote.test': MX2,
      'mail.sender.test': MX1,
    },
  });
  const mx = await remote('127.0.0.3');
  t.is(only(await deliver('name.test')), 'permanent 5.4.6');
  t.is(only(await deliver('backup.test')), 'permanent 5.4.6');
  t.is(only(await deliver('better.test')), 'delivered 2.0.0');
  t.is(mx.messages.length, 1);
  const same = await world(t, {
    port,
    own: { hostname: 'other.test', bind: '127.0.0.3', mxPort: () => port },
    zones: {
      'self.test': {
        MX: [
          [10, 'a.test'],
          [20, 'b.test'],
        ],
      },
      'a.test': MX2,
      'b.test': { A: ['127.0.0.5'] },
    },
  });
  t.is(only(await same.deliver('self.test')), 'permanent 5.4.6');
  t.is(mx.connections, 1);
});
