// Tests what clients are told about mail protocols: the listeners of the cluster's nodes, and what the operator publishes.

import {
  apiUrlOf,
  connectionInfoOf,
  mxAddressOf,
  type Published,
  registration,
  stsPolicyOf,
} from '../../../src/node/listeners/connection-info.js';
import type { NodeRow } from '../../../src/store/leases.js';
import test from '../../support/test.js';

const HERE = 'here.example.test';
const NOTHING: Published = {
  hostname: HERE,
  publicUrl: undefined,
  publicSmtp: undefined,
  publicSubmission: undefined,
  publicSubmissions: undefined,
  publicImap: undefined,
  publicImaps: undefined,
  publicPop3: undefined,
  publicPop3s: undefined,
  ...{
    httpPort: 0,
    httpsPort: 'off' as const,
    mxPort: 0,
    submissionPort: 0,
    submissionsPort: 0,
    imapPort: 0,
    imapsPort: 0,
    pop3Port: 0,
    pop3sPort: 0,
  },
};
const OFF = { enabled: false, serverName: HERE, port: 0, securePort: 0 };

const node = (id: string, listeners: Record<string, string>, more: Partial<NodeRow> = {}): NodeRow => ({
  ...{ id, version: '1', roles: [], bus: 'nats', state: 'serving', startedAt: 0, silentMs: 0, expired: false },
  listeners,
  ...more,
});

test('a listener is told by the name of its host, and what is published stands beside it', (t) => {
  const open = { http: '127.0.0.1:8080', submission: '[::]:587' };
  t.deepEqual(registration(NOTHING, open), { http: `${HERE}:8080`, submission: `${HERE}:587` });
  const published = { publicUrl: 'https://app.test/base', publicSmtp: 'mx.test:25', publicSubmission: 'mail.test:587' };
  t.deepEqual(registration({ ...NOTHING, ...published }, open), {
    http: `${HERE}:8080`,
    submission: `${HERE}:587`,
    'public:http': 'https://app.test/base',
    'public:mx': 'mx.test:25',
    'public:submission': 'mail.test:587',
  });
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
    node('f', { mx: 'f.test:2525' }),
  ];
  const told = {
    mx: 'f.test:2525',
    smtp: { enabled: true, serverName: 'b.test', port: 587, securePort: 465 },
    pop3: { enabled: true, serverName: 'e.test', port: 0, securePort: 995 },
    imap: { enabled: true, serverName: 'b.test', port: 143, securePort: 0 },
  };
  t.deepEqual(connectionInfoOf(NOTHING, nodes), told);
  t.deepEqual(connectionInfoOf(NOTHING, nodes.toReversed()), told);
});

test('a node whose port is off publishes no address for it, whatever is set; other nodes do', (t) => {
  const off: Partial<Published> = {
    ...{ publicUrl: 'https://app.test', httpPort: 'off', publicSmtp: 'mx.test:25', mxPort: 'off' },
    ...{ publicImap: 'mail.test:143', imapPort: 'off', publicImaps: 'mail.test:993' },
  };
  const told = { 'public:imaps': 'mail.test:993' };
  t.deepEqual(registration({ ...NOTHING, ...off }, {}), told);
  const alone = [node('a', told)];
  t.is(apiUrlOf({ ...NOTHING, ...off }, alone), undefined);
  t.is(mxAddressOf({ ...NOTHING, ...off }, alone), undefined);
  t.deepEqual(connectionInfoOf({ ...NOTHING, ...off }, alone).imap, {
    ...{ enabled: true, serverName: 'mail.test', port: 0, securePort: 993 },
  });
  const among = [...alone, node('b', { 'public:imap': 'mail.test:143', mx: 'b.test:25' })];
  t.is(connectionInfoOf({ ...NOTHING, ...off }, among).imap.port, 143);
  t.is(mxAddressOf({ ...NOTHING, ...off }, among), 'b.test:25');
});

test('the MTA-STS policy names every MX host, those of nodes that are away too, unless one is published', (t) => {
  const nodes = [
    node('b', { mx: 'b.test:25' }),
    node('a', { mx: 'a.test:2525' }, { expired: true }),
    node('c', { mx: 'b.test:25' }, { state: 'draining' }),
    node('d', { imap: 'd.test:143' }),
  ];
  const textOf = (config: Partial<Published>, mode: 'off' | 'testing' | 'enforce', known = nodes) =>
    stsPolicyOf({ ...NOTHING, ...config, mtaStsMode: mode }, known)?.text;
  t.is(textOf({}, 'testing'), 'version: STSv1\r\nmode: testing\r\nmx: a.test\r\nmx: b.test\r\nmax_age: 86400\r\n');
  t.is(
    textOf({ publicSmtp: 'mx.test:25' }, 'enforce'),
    'version: STSv1\r\nmode: enforce\r\nmx: mx.test\r\nmax_age: 604800\r\n',
  );
  t.is(textOf({}, 'off'), undefined);
  t.is(textOf({}, 'testing', [node('d', { imap: 'd.test:143' })]), undefined);
});

test('the URL of the API is the published one, else that of HTTPS', (t) => {
  const withHttps = (port: number) => [node('a', { https: `mail.test:${port}`, http: 'mail.test:8080' })];
  t.is(apiUrlOf(NOTHING, withHttps(443)), 'https://mail.test');
  t.is(apiUrlOf(NOTHING, withHttps(8443)), 'https://mail.test:8443');
  t.is(apiUrlOf({ ...NOTHING, publicUrl: 'https://app.test' }, withHttps(443)), 'https://app.test');
  const plainOff = { ...NOTHING, publicUrl: 'https://app.test', httpPort: 'off' as const };
  t.is(apiUrlOf(plainOff, []), undefined);
  t.is(apiUrlOf({ ...plainOff, httpsPort: 443 }, []), 'https://app.test');
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

test('what any node publishes is told by all, whichever settings the one has that is asked', (t) => {
  const of = (id: string, more: Partial<Published>, listeners: Record<string, string>) =>
    node(id, registration({ ...NOTHING, hostname: `${id}.test`, ...more }, listeners));
  const publishing = { publicImaps: 'mail.test:993', publicSmtp: 'mx.test:25', publicUrl: 'https://app.test' };
  const nodes = [
    of('a', publishing, { imaps: '0.0.0.0:2993' }),
    of('b', {}, { imaps: '0.0.0.0:2993', mx: '0.0.0.0:2525', http: '0.0.0.0:8080' }),
    of('c', {}, { imaps: '0.0.0.0:2993' }),
  ];
  const told = (config: Published, known = nodes) => [
    connectionInfoOf(config, known),
    mxAddressOf(config, known),
    apiUrlOf(config, known),
  ];
  const asked = told({ ...NOTHING, hostname: 'b.test' });
  t.like(asked[0], { imap: { enabled: true, serverName: 'mail.test', port: 0, securePort: 993 } });
  t.deepEqual(asked.slice(1), ['mx.test:25', 'https://app.test']);
  t.deepEqual(told({ ...NOTHING, hostname: 'a.test', ...publishing }), asked);
  // The majority outvotes a node with a different setting, so all nodes agree.
  const others = [...nodes, of('d', publishing, {}), of('e', { publicImaps: 'other.test:993' }, {})];
  t.deepEqual(told({ ...NOTHING, publicImaps: 'other.test:993' }, others)[0], told(NOTHING, others)[0]);
  // Nodes that are gone publish nothing.
  const gone = nodes.map((each) => ({ ...each, expired: true }));
  t.deepEqual(told(NOTHING, gone).slice(1), [undefined, undefined]);
  t.deepEqual(told({ ...NOTHING, ...publishing }, gone), told({ ...NOTHING, ...publishing }, []));
});

test('a protocol that is off names the host of one that is on', (t) => {
  const nodes = [node('a', { imap: 'a.test:143' })];
  const { smtp, pop3 } = connectionInfoOf(NOTHING, nodes);
  t.deepEqual(
    [smtp, pop3],
    [
      { ...OFF, serverName: 'a.test' },
      { ...OFF, serverName: 'a.test' },
    ],
  );
});
