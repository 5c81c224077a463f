// What clients are told of the mail protocols: the listeners of the cluster's nodes, and what the operator publishes.
import test from 'ava';
import { connectionInfoOf, type Published, publicListeners } from '../../src/node/connection-info.js';
import type { NodeRow } from '../../src/store/leases.js';

const HERE = 'here.example.test';
const NOTHING: Published = {
  hostname: HERE,
  publicSubmission: undefined,
  publicSubmissions: undefined,
  publicImap: undefined,
  publicImaps: undefined,
  publicPop3: undefined,
  publicPop3s: undefined,
};
const OFF = { enabled: false, serverName: HERE, port: 0, securePort: 0 };

const node = (id: string, listeners: Record<string, string>, more: Partial<NodeRow> = {}): NodeRow => ({
  ...{ id, version: '1', roles: [], bus: 'nats', state: 'serving', startedAt: 0, silentMs: 0, expired: false },
  listeners,
  ...more,
});

test('a listener is told by the name of its host', (t) => {
  const open = { http: '127.0.0.1:8080', submission: '[::]:587' };
  t.deepEqual(publicListeners(HERE, open), { http: `${HERE}:8080`, submission: `${HERE}:587` });
});

test('what any living node listens on is told, one address for all', (t) => {
  t.deepEqual(connectionInfoOf(NOTHING, []), { smtp: OFF, pop3: OFF, imap: OFF });
  const mail = { submission: 'b.test:587', submissions: 'b.test:465' };
  const nodes = [
    node('a', { http: 'a.test:80', submission: 'a.test:2587', submissions: 'a.test:2465' }),
    node('b', mail),
    node('c', { ...mail, imap: 'b.test:143' }),
    node('d', { submission: 'd.test:1', imap: 'd.test:1', pop3: 'd.test:1' }, { expired: true }),
    node('e', { pop3s: 'e.test:995' }, { state: 'draining' }),
    node('f', {}),
  ];
  const told = {
    smtp: { enabled: true, serverName: 'b.test', port: 587, securePort: 465 },
    pop3: { enabled: true, serverName: 'e.test', port: 0, securePort: 995 },
    imap: { enabled: true, serverName: 'b.test', port: 143, securePort: 0 },
  };
  t.deepEqual(connectionInfoOf(NOTHING, nodes), told);
  t.deepEqual(connectionInfoOf(NOTHING, nodes.toReversed()), told);
});

test('what is published goes before what is open, and a port at another host is not told', (t) => {
  const nodes = [node('a', { submission: 'a.test:2587', submissions: 'a.test:2465' })];
  const of = (more: Partial<Published>) => connectionInfoOf({ ...NOTHING, ...more }, nodes);
  const both = of({ publicSubmission: 'mail.test:587', publicSubmissions: 'mail.test:465' });
  t.deepEqual(both.smtp, { enabled: true, serverName: 'mail.test', port: 587, securePort: 465 });
  t.deepEqual(of({ publicSubmission: 'mail.test:587' }).smtp, {
    ...{ enabled: true, serverName: 'mail.test', port: 587, securePort: 0 },
  });
  t.deepEqual(of({ publicSubmissions: 'a.test:465' }).smtp, {
    ...{ enabled: true, serverName: 'a.test', port: 2587, securePort: 465 },
  });
  t.deepEqual(of({ publicImaps: '[2001:db8::1]:993' }).imap, {
    ...{ enabled: true, serverName: '[2001:db8::1]', port: 0, securePort: 993 },
  });
});
