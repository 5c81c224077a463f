// Tests what details say about a message besides its bodies: the sender's Reply-To and an allow-list of other fields.
import type { ExecutionContext } from 'ava';
import { indexMessage } from '../../../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../../../src/mail-format/summary.js';
import test from '../../../../support/test.js';
import { ALICE } from '../../fakes.js';
import { type Gateway, startGateway } from '../../gateway.js';
import { lastQueued } from '../../queued-message.js';

const BOB = { address: 'bob@remote.test', displayName: 'Bob', type: 'To' };
const MAIL = { fromAddress: 'alice@example.test', subject: 'Hi', textBody: 'Hello', recipients: [BOB] };
const PASSES =
  'Authentication-Results: mx.example.test;\r\n\tspf=fail smtp.mailfrom="a b;dkim=pass@peer.test";\r\n' +
  '\tdkim=fail (bad) header.d=other.test header.s=x;\r\n\tdkim=pass header.d=Peer.test header.s=y;\r\n' +
  '\tdmarc=pass (p=reject) header.from=peer.test\r\n';
const WRITTEN = [
  'Received: from x by y\r\n',
  'From: a@peer.test\r\nReply-To: =?utf-8?Q?Zo=C3=AB?= <zoe@peer.test>,\r\n\tlist@peer.test\r\n',
  'Date: Fri, 2 Jan 2026 03:04:05 +0100\r\nSubject: =?utf-8?Q?gr=C3=BCn?=\r\n folded\r\nX-Raw:  größe \r\nno field\r\n\r\nhello\r\n',
].join('');

interface Shown {
  readonly headers: readonly (readonly [string, string])[];
  readonly authentication: unknown;
}

/** `isChecked`: the message arrived at the MX. */
async function received(gateway: Gateway, text: string, isChecked: boolean): Promise<Shown> {
  const octets = Buffer.from(text);
  const blob = gateway.blobs.add(octets, indexMessage(octets));
  const summary = summarize(gateway.blobs.blobs.get(blob)!.index, 'a@peer.test', isChecked);
  const mailbox = gateway.mailboxes.refs.of(ALICE);
  const message = { blob, summary, receivedAt: Date.now(), flags: [] };
  await mailbox.ask('append', { folderId: 'inbox', messages: [message] });
  const { items } = (await (await gateway.fetch('/api/emails')).json()) as { items: { id: string }[] };
  return (await (await gateway.fetch(`/api/emails/${items[0]!.id}`)).json()) as Shown;
}

test('a detail has the date, the addresses for replies and the fields as they came', async (t) => {
  const gateway = await startGateway(t);
  const detail = await received(gateway, WRITTEN, false);
  t.like(detail, {
    date: '2026-01-02T02:04:05.000Z',
    replyTo: [
      { address: 'zoe@peer.test', displayName: 'Zoë' },
      { address: 'list@peer.test', displayName: '' },
    ],
  });
  t.deepEqual(detail.headers, [
    ['Received', 'from x by y'],
    ['From', 'a@peer.test'],
    ['Reply-To', '=?utf-8?Q?Zo=C3=AB?= <zoe@peer.test>,\tlist@peer.test'],
    ['Date', 'Fri, 2 Jan 2026 03:04:05 +0100'],
    ['Subject', '=?utf-8?Q?gr=C3=BCn?= folded'],
    ['X-Raw', 'größe'],
  ]);
  t.like(await received(gateway, 'Subject: nothing\r\n\r\nx', false), { date: null, replyTo: [] });
});

test('the results of authentication are those of the MX, never what a sender wrote', async (t) => {
  const gateway = await startGateway(t);
  const none = { result: 'none', domain: '' };
  const nothing = { spf: none, dkim: none, dmarc: none };
  const trace = `Return-Path: <a@peer.test>\r\n${PASSES}`;
  const { authentication } = await received(gateway, trace + WRITTEN, true);
  t.deepEqual(authentication, {
    spf: { result: 'fail', domain: 'peer.test' },
    dkim: { result: 'pass', domain: 'peer.test' },
    dmarc: { result: 'pass', domain: 'peer.test' },
  });
  // A mail program stored this message. In the next one a sender forged the results below the fields of the MX.
  t.deepEqual((await received(gateway, trace + WRITTEN, false)).authentication, nothing);
  const unknown = 'Return-Path: <a@peer.test>\r\nAuthentication-Results: mx.example.test;\r\n\tnone\r\n';
  t.deepEqual((await received(gateway, unknown + PASSES + WRITTEN, true)).authentication, nothing);
});

test('a header of more than 64 kB is shown to its bound, and marked', async (t) => {
  const gateway = await startGateway(t);
  const detail = await received(gateway, `${`X-Long: ${'x'.repeat(900)}\r\n`.repeat(100)}\r\nhello\r\n`, false);
  t.true(detail.headers.length > 50 && detail.headers.length < 73);
  t.like(detail, { isPartial: true });
});

const send = (gateway: Gateway, json: object, path = 'send') =>
  gateway.fetch(`/api/outbound/${path}`, { method: 'POST', json });

function lastHeader(gateway: Gateway): string {
  const octets = Buffer.from(gateway.blobs.blobs.get(lastQueued(gateway).blob)!.bytes).toString('latin1');
  return octets.slice(0, octets.indexOf('\r\n\r\n') + 2);
}

const GIVEN = {
  replyTo: 'support@elsewhere.test',
  headers: [
    ['List-Unsubscribe', '<https://example.test/leave>'],
    ['X-Note', 'grün'],
    ['x-note', `twice, ${'and long '.repeat(100)}end`],
    ['X-Coded', '=?utf-8?Q?a?='],
    ['References', '<1@a.test> <2@a.test>'],
    ['In-Reply-To', '<2@a.test>'],
    ['Auto-Submitted', 'auto-generated'],
    ['Importance', 'high'],
  ],
};

function isGiven(t: ExecutionContext, gateway: Gateway): void {
  const header = lastHeader(gateway);
  t.true(
    header.split('\r\n').every((line) => /^[\t -~]{0,78}$/.test(line)),
    header,
  );
  const unfolded = header.replace(/\r\n(?=[ \t])/g, '');
  t.regex(unfolded, /\r\nReply-To: support@elsewhere\.test\r\n/);
  t.regex(unfolded, /\r\nX-Note: =\?UTF-8\?[QB]\?[^\r]*\?=\r\n/i);
  t.true(unfolded.includes(`\r\nx-note: ${GIVEN.headers[2]![1]}\r\n`));
  t.notRegex(unfolded, /\?Q\?a\?=/);
  for (const [name, value] of [GIVEN.headers[0]!, ...GIVEN.headers.slice(4)])
    t.is(unfolded.split(`\r\n${name}: ${value}\r\n`).length, 2, name);
}

test('Reply-To and other fields are sent as they were given, also from a draft, and join the thread', async (t) => {
  const gateway = await startGateway(t);
  t.is((await send(gateway, { ...MAIL, ...GIVEN })).status, 200);
  isGiven(t, gateway);
  t.like(lastQueued(gateway).summary, { inReplyTo: '<2@a.test>', references: ['<1@a.test>', '<2@a.test>'] });

  const made = await send(gateway, { ...MAIL, ...GIVEN }, 'drafts');
  const draft = (await made.json()) as { id: string; headers: [string, string][] };
  t.is(made.status, 201);
  t.like(draft, { replyTo: GIVEN.replyTo });
  const sorted = (pairs: readonly (readonly string[])[]) => pairs.map((pair) => pair.join(': ')).sort();
  t.deepEqual(sorted(draft.headers), sorted(GIVEN.headers));
  const { items } = (await (await gateway.fetch('/api/outbound/drafts')).json()) as { items: object[] };
  t.like(items[0], { to: [{ address: BOB.address, displayName: BOB.displayName }] });
  t.is((await gateway.fetch(`/api/outbound/drafts/${draft.id}/send`, { method: 'POST' })).status, 200);
  isGiven(t, gateway);
  const { id } = draft;
  const outbound = (await (await gateway.fetch(`/api/outbound/${id}`)).json()) as typeof draft;
  t.like(outbound, { replyTo: GIVEN.replyTo });
  t.deepEqual(sorted(outbound.headers), sorted(GIVEN.headers));
  const sent = (await (await gateway.fetch('/api/emails/sent')).json()) as { items: object[] };
  t.like(sent.items[0], { to: [{ address: BOB.address, displayName: BOB.displayName }] });
});

test('no field is given that is not on the list, and none that could begin another one', async (t) => {
  const gateway = await startGateway(t);
  const refused: readonly unknown[] = [
    ...[
      'Bcc',
      'To',
      'From',
      'Subject',
      'Received',
      'Content-Type',
      'DKIM-Signature',
      'Return-Path',
      'X',
      'X-',
      'X-a:b',
    ],
    ...['X-a\r\nBcc', 'Authentication-Results', 'X-a b', 'X-ä', `X-${'x'.repeat(100)}`, 'List-', ' X-a'],
  ].map((name) => [[name, 'value']]);
  const values = [
    'a\r\nBcc: x@y.test',
    'a\nb',
    'a\rb',
    'a\0b',
    'a\u2028b',
    '\ud800',
    '',
    ' ',
    'x'.repeat(901),
    7,
    null,
  ];
  const others: readonly unknown[] = [
    ...values.map((value) => [['X-Value', value]]),
    [['References', 'no id']],
    [['In-Reply-To', '<1@a.test> <2@a.test>']],
    [
      ['Precedence', 'bulk'],
      ['precedence', 'list'],
    ],
    [['Importance', 'hoch für alle: größe']],
    [['X-a']],
    ['X-a: b'],
    { 'X-a': 'b' },
    Array.from({ length: 51 }, () => ['X-a', 'b']),
  ];
  for (const headers of [...refused, ...others]) {
    for (const path of ['send', 'drafts']) {
      const reply = await send(gateway, { ...MAIL, headers }, path);
      t.is(reply.status, 400, JSON.stringify(headers));
      t.deepEqual(Object.keys(((await reply.json()) as { errors: object }).errors), ['headers']);
    }
  }
  t.is((await send(gateway, { ...MAIL, replyTo: 'a@b.test\r\nBcc: c@d.test' })).status, 400);
  t.is((await send(gateway, { ...MAIL, replyTo: null, headers: null })).status, 200);
});

test('members that send, drafts, reply and forward do not know are refused, wherever they stand', async (t) => {
  const gateway = await startGateway(t);
  const faults = async (json: object, path?: string) => {
    const reply = await send(gateway, json, path);
    t.is(reply.status, 400);
    return ((await reply.json()) as { errors: object }).errors;
  };
  const unknown = ['is no member of this body'];
  t.deepEqual(await faults({ ...MAIL, replyto: 'x', other: null }), { replyto: unknown, other: unknown });
  t.deepEqual(await faults({ ...MAIL, recipients: [{ ...BOB, name: 'x' }] }), { 'recipients[0].name': unknown });
  t.deepEqual(await faults({ [`x${'y'.repeat(1_000)}`]: 1 }, 'drafts'), { [`x${'y'.repeat(99)}`]: unknown });
  t.deepEqual(
    await faults({ textBody: 'x', replyTo: 'a@b.test' }, `reply/${'0'.repeat(8)}-0000-7000-8000-000000000001`),
    {
      replyTo: unknown,
    },
  );
  const attachment = { fileName: 'a', contentType: 'text/plain', content: 'YQ==', disposition: 'inline' };
  t.deepEqual(await faults({ ...MAIL, attachments: [attachment] }), { 'attachments[0].disposition': unknown });
});
