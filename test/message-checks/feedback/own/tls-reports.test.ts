// Tests where reports about TLS go: mail once, a POST to each https target until it takes the report, whatever dies or fails in between.
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { tlsReports } from '../../../../src/message-checks/feedback/own/tls-reports.js';
import { readTlsJson } from '../../../../src/message-checks/feedback/reading/tls-json.js';
import { type Dns, DnsFailure } from '../../../../src/net/dns/resolver.js';
import { createHttpClient } from '../../../../src/net/http-client/http-client.js';
import type { TlsCount } from '../../../../src/store/feedback/own-tls-reports.js';
import { pairFor } from '../../../support/key-pair.js';
import test from '../../../support/test.js';

const DUE = { domain: 'peer.test', day: '2026-11-28' };
const COUNT: TlsCount = {
  ...DUE,
  result: {
    policyType: 'no-policy-found',
    policy: null,
    host: 'mx.peer.test',
    address: '192.0.2.1',
    result: 'success',
    reason: null,
  },
  sessions: 7,
};

interface Received {
  readonly path: string | undefined;
  readonly type: string | undefined;
  readonly body: Buffer;
}

async function httpsTarget(t: ExecutionContext) {
  const pair = await pairFor('reports.peer.test');
  const target = { status: 200, received: [] as Received[] };
  const server = createServer(pair, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path, headers } = request;
      target.received.push({ path, type: headers['content-type'], body: Buffer.concat(chunks) });
      response.writeHead(target.status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { target, ca: pair.cert, port: (server.address() as AddressInfo).port };
}

/** A store, a queue and a DNS of one domain. `record`: of its reports. */
function reporting(t: ExecutionContext, record: string | DnsFailure, ca?: string) {
  const state = { counts: [COUNT], posted: [] as string[], queued: new Set<string>(), isSettled: false, dies: false };
  const mails: { readonly to: string; readonly text: string }[] = [];
  const dns: Dns = {
    async resolve(name: string, type: string) {
      if (type === 'A' && name === 'reports.peer.test') return ['127.0.0.1'] as never;
      if (name !== '_smtp._tls.peer.test') throw new DnsFailure('ENOTFOUND', name, type);
      if (record instanceof DnsFailure) throw record;
      return [[record]] as never;
    },
  };
  const http = createHttpClient({ dns, allowPrivate: ca !== undefined, ...(ca !== undefined && { ca }) });
  t.teardown(() => http.close());
  let now = Date.parse('2026-11-29T01:00:00Z');
  const reports = tlsReports({
    store: {
      due: async () => [DUE],
      counts: async () => state.counts,
      posted: async (_due, target) => {
        if (state.dies) throw new Error('the node died');
        state.posted.push(target);
      },
      targetsOf: async () => state.posted,
      settle: async () => {
        state.isSettled = true;
      },
    },
    queue: { isQueued: async (_account, messageId) => state.queued.has(messageId) },
    dns,
    http,
    hostname: 'mx.example.test',
    sender: async () => ({ accountId: 'account', address: 'postmaster@example.test', domain: 'example.test' }),
    send: async (_account, { message, to, id }) => {
      const text = Buffer.from(message).toString();
      mails.push({ to, text });
      state.queued.add(`<${id}@mx.example.test>`);
    },
    now: () => now,
    log: pino({ level: 'silent' }),
  });
  const send = () => reports.send(DUE, new AbortController().signal);
  return { state, mails, send, later: (ms: number) => (now += ms) };
}

test('the mail has the fields of RFC 8460 and the packed report', async (t) => {
  const { mails, send, state } = reporting(
    t,
    'v=TLSRPTv1; rua=mailto:tls@peer.test,mailto:a@[127.0.0.1],ftp://x.test/',
  );
  await send();
  await send();
  t.deepEqual(
    mails.map(({ to }) => to),
    ['tls@peer.test'],
  );
  t.true(state.isSettled);
  const { text } = mails[0]!;
  const unfolded = text.replace(/\r\n(?=[ \t])/g, '');
  const id = /^Subject: Report Domain: peer\.test Submitter: example\.test Report-ID: <([\w-]+)>$/m.exec(unfolded)?.[1];
  t.truthy(id);
  for (const line of [
    /^TLS-Report-Domain: peer\.test$/m,
    /^TLS-Report-Submitter: example\.test$/m,
    /^From: TLS Reports <postmaster@example\.test>$/m,
    /^Content-Type: multipart\/report; report-type="tlsrpt"; boundary="[^"]+"$/m,
    /^Content-Type: application\/tlsrpt\+gzip; name="example\.test!peer\.test!1795824000!1795910399![\w-]+\.json\.gz"$/m,
  ])
    t.regex(unfolded, line);
  const encoded = /Content-Transfer-Encoding: base64\r\n\r\n([\w+/=\r\n]+)--/.exec(text)![1]!;
  t.like(readTlsJson(gunzipSync(Buffer.from(encoded, 'base64'))), {
    domain: 'peer.test',
    reportId: id,
    sums: [{ policyType: 'no-policy-found', host: '', result: 'success', sessions: 7 }],
  });
});

test('an https target that fails is tried again, and keeps nobody else from the report', async (t) => {
  const { target, ca, port } = await httpsTarget(t);
  const [first, second] = ['one', 'two'].map((path) => `https://reports.peer.test:${port}/${path}`);
  const record = `v=TLSRPTv1; rua=${first},mailto:tls@peer.test,${second}`;
  const { state, mails, send } = reporting(t, record, ca);
  target.status = 503;
  await t.throwsAsync(send(), { message: /status 503/ });
  t.is(mails.length, 1);
  t.false(state.isSettled);
  target.status = 201;
  // The node dies after the answer: the same report is sent again.
  state.dies = true;
  await t.throwsAsync(send(), { message: 'the node died' });
  state.dies = false;
  await send();
  await send();
  t.true(state.isSettled);
  t.deepEqual(state.posted, [first, second]);
  t.is(mails.length, 1);
  const { received } = target;
  t.deepEqual(
    received.map(({ path }) => path),
    ['/one', '/two', '/one', '/one', '/two'],
  );
  t.true(received.every(({ type }) => type === 'application/tlsrpt+gzip'));
  const ids = new Set(received.map(({ body }) => readTlsJson(gunzipSync(body)).reportId));
  t.is(ids.size, 1);
});

test('a target that takes nothing for a day is given up', async (t) => {
  const { target, ca, port } = await httpsTarget(t);
  target.status = 400;
  const { state, send, later } = reporting(t, `v=TLSRPTv1; rua=https://reports.peer.test:${port}/`, ca);
  await t.throwsAsync(send(), { message: /status 400/ });
  later(23 * 3_600_000);
  await send();
  t.true(state.isSettled);
});

test('nobody wants the report: no record, no target, a private address is never asked', async (t) => {
  for (const record of ['v=TLSRPTv1', 'v=spf1 -all', new DnsFailure('ENOTFOUND', 'x', 'TXT')]) {
    const { mails, send, state } = reporting(t, record);
    await send();
    t.deepEqual([mails.length, state.isSettled], [0, true]);
  }
  const { send } = reporting(t, 'v=TLSRPTv1; rua=https://reports.peer.test/');
  await t.throwsAsync(send(), { message: /private address/ });
  const silent = reporting(t, new DnsFailure('ETIMEOUT', 'x', 'TXT'));
  await t.throwsAsync(silent.send(), { instanceOf: DnsFailure });
  t.false(silent.state.isSettled);
});
