// Tests bodies that mailparser decodes in a worker thread: a job that exceeds its budget falls back to our own decoders, and a
// hostile one ends its view, not the process.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { composeBodies } from '../../../src/mail-format/decode/bodies.js';
import type { OctetRange } from '../../../src/mail-format/message-index.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import {
  BodyDecoder,
  DecoderBusy,
  type DecoderLimits,
  DecodingAbandoned,
} from '../../../src/message-content/decode/decoder.js';
import { caseMessage } from '../../mail-format/cases.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';

const reader = (raw: Buffer) => async (ranges: readonly OctetRange[]) =>
  ranges.map(({ start, end }) => Uint8Array.prototype.slice.call(raw, start, end));

/** This is enough on a busy machine. */
const PATIENT = { startMs: 120_000, shortJobMs: 60_000, jobMs: 60_000 };
const ALICE = { accountId: 'alice' };
const BOB = { accountId: 'bob' };
function decoderFor(t: { teardown(end: () => Promise<void>): void }, limits: Partial<DecoderLimits> = {}): BodyDecoder {
  const decoder = new BodyDecoder(limits);
  t.teardown(() => decoder.close());
  return decoder;
}

const moduleOf = (code: string) =>
  new URL(`data:text/javascript,${encodeURIComponent(`import {parentPort} from 'node:worker_threads';${code}`)}`);

/** Returns a worker that runs this code instead of decoding. */
const rogue = (code: string) => moduleOf(`parentPort.postMessage('ready');parentPort.on('message',(job)=>{${code}})`);

const alternative = Buffer.from(
  [
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Gr=FC=DFe',
    '--b',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from('<p>Grüße</p>').toString('base64'),
    '--b--',
  ].join('\r\n'),
);

const large = Buffer.from(`Content-Type: text/plain; charset=utf-8\r\n\r\n${'Grüße '.repeat(50_000)}`);

/** A part of HTML, which is also shown as text, as search and filters see it. */
const html = Buffer.from(
  'Content-Type: text/html; charset=utf-8\r\n\r\n<h1>Two\n  words</h1><ul><li>one<li>two</ul><img alt="Cat" src=c><a href="https://x">here</a>',
);
const htmlIndex = { ...indexMessage(html), textSections: ['1'] };

test('a short message and a long one are decoded alike', async (t) => {
  const decoder = decoderFor(t, PATIENT);
  t.deepEqual(await decoder.bodies(indexMessage(alternative), reader(alternative), ALICE), {
    text: 'Grüße',
    html: '<p>Grüße</p>',
    partial: false,
  });
  const index = indexMessage(large);
  const all = await Promise.all([1, 2, 3].map(() => decoder.bodies(index, reader(large), ALICE)));
  for (const bodies of all) t.deepEqual(bodies, { text: 'Grüße '.repeat(50_000), html: '', partial: false });
  const long = decoderFor(t, { ...PATIENT, shortOctets: 0 });
  t.is((await long.bodies(indexMessage(alternative), reader(alternative), ALICE)).text, 'Grüße');
});

test('a body in base64 ends at its padding, whichever decoder reads it', async (t) => {
  const raw = caseMessage('footer-after-base64');
  const index = indexMessage(raw);
  const decoder = decoderFor(t, PATIENT);
  const whole = { text: 'Meet at noon.\n', html: '', partial: false };
  t.deepEqual(await decoder.bodies(index, reader(raw), ALICE), whole);
  t.deepEqual(await decoder.bodies(index, reader(raw), { ...ALICE, atOnce: true }), whole);
  const long = decoderFor(t, { ...PATIENT, shortOctets: 0 });
  t.deepEqual(await long.bodies(index, reader(raw), ALICE), whole);
  t.is(index.preview, 'Meet at noon.');
});

test('HTML becomes the text that a reader sees', async (t) => {
  const decoder = decoderFor(t, PATIENT);
  const { text } = await decoder.bodies(htmlIndex, reader(html), ALICE);
  t.is(text, 'Two words\n\n * one\n * two\n\nCat here');
});

test('a long message of many parts: the first are read by mailparser, all are read', async (t) => {
  const part = (i: number) =>
    `--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=41${i}\r\n`;
  const parts = Array.from({ length: 200 }, (_, i) => part(i));
  const raw = Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts.join('')}--b--\r\n`);
  const decoder = decoderFor(t, PATIENT);
  const { text } = await decoder.bodies(indexMessage(raw), reader(raw), ALICE);
  t.deepEqual(
    text.split('\n'),
    Array.from({ length: 200 }, (_, i) => `A${i}`),
  );
});

for (const [what, module] of [
  ['hangs', rogue('for(;;);')],
  ['exits', rogue('process.exit(3)')],
  ['fails', rogue('parentPort.postMessage({failed:"x"})')],
  ['does not start', moduleOf('throw new Error("x")')],
] as const) {
  test(`a short message is whole when the worker ${what}`, async (t) => {
    const decoder = decoderFor(t, { module, shortJobMs: 300 });
    for (let round = 0; round < 2; round++) {
      const bodies = await decoder.bodies(indexMessage(alternative), reader(alternative), ALICE);
      t.deepEqual(bodies, { text: 'Grüße', html: '<p>Grüße</p>', partial: false });
    }
  });
}

test('a long message that mailparser is too slow with is decoded by our own decoders, in a new worker', async (t) => {
  const answer = '{text:String(job.parts.length),html:"",partial:false}';
  const module = rogue(`if(job.withMailparser)for(;;);parentPort.postMessage(${answer})`);
  // Our own decoders have this time too: a busy machine may let the thread wait for seconds.
  const decoder = decoderFor(t, { ...PATIENT, module, jobMs: 5_000 });
  t.deepEqual(await decoder.bodies(indexMessage(large), reader(large), ALICE), { text: '1', html: '', partial: false });
});

test('our own decoders in the worker read the same', async (t) => {
  const worker = new Worker(new URL('../../../src/message-content/decode/worker.js', import.meta.url));
  t.teardown(() => worker.terminate());
  const [octets] = await reader(html)([{ start: indexMessage(html).root.bodyStart, end: html.length }]);
  const part = { subtype: 'html', encoding: '7bit', params: {}, inText: true, inHtml: true, bytes: octets! };
  t.deepEqual(await once(worker, 'message'), ['ready']);
  worker.postMessage({ parts: [part], limit: 1000, withMailparser: false });
  t.deepEqual(await once(worker, 'message'), [composeBodies([part], 1000)]);
});

test('text that needs no decoding needs no thread', async (t) => {
  const decoder = decoderFor(t, { module: rogue('for(;;);'), shortJobMs: 600_000 });
  for (const header of [
    'X: y',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Type: text/html; charset="US-ASCII"',
  ]) {
    const raw = Buffer.from(`Subject: x\r\n${header}\r\n\r\nZoë`);
    const { text, html: shown } = await decoder.bodies(indexMessage(raw), reader(raw), ALICE);
    t.is(text + shown, 'Zoë');
  }
});

test('a short message that is wanted at once needs no thread', async (t) => {
  const decoder = decoderFor(t, { module: rogue('for(;;);'), shortJobMs: 600_000 });
  const viewer = { ...ALICE, atOnce: true };
  const bodies = await decoder.bodies(indexMessage(alternative), reader(alternative), viewer);
  t.deepEqual(bodies, { text: 'Grüße', html: '<p>Grüße</p>', partial: false });
});

test('a short message waits for no long one, is not refused, and ends with its client', async (t) => {
  const stop = new AbortController();
  const limits = { module: rogue('for(;;);'), jobMs: 600_000, shortJobMs: 600_000, queueAnAccount: 1 };
  const decoder = decoderFor(t, limits);
  const long = decoder.bodies(indexMessage(large), reader(large), { ...ALICE, signal: stop.signal });
  const index = indexMessage(alternative);
  const views = [1, 2].map(() => decoder.bodies(index, reader(alternative), { ...ALICE, signal: stop.signal }));
  await turn();
  const third = await decoder.bodies(index, reader(alternative), ALICE);
  t.deepEqual(third, { text: 'Grüße', html: '<p>Grüße</p>', partial: false });
  stop.abort();
  for (const view of [long, ...views]) await t.throwsAsync(view, { instanceOf: DecodingAbandoned });
});

test('a short message under way is decoded when the decoder closes', async (t) => {
  const decoder = new BodyDecoder({ module: rogue('for(;;);'), shortJobMs: 600_000 });
  const view = decoder.bodies(indexMessage(alternative), reader(alternative), ALICE);
  await turn();
  await decoder.close();
  t.is((await view).text, 'Grüße');
  t.is((await decoder.bodies(indexMessage(alternative), reader(alternative), ALICE)).text, 'Grüße');
});

test('a footer between html parts stays readable and harmless', async (t) => {
  const raw = Buffer.from(
    'Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>x</p>\n--b\n\n<list>\n--b--',
  );
  const bodies = await decoderFor(t, PATIENT).bodies(indexMessage(raw), reader(raw), ALICE);
  t.is(bodies.text, 'x\n<list>');
  t.is(bodies.html, '<p>x</p>\n<br>\n<div style="white-space: pre-wrap">&lt;list&gt;</div>');
});

test('what is over the cap is cut and said to be partial', async (t) => {
  const decoder = decoderFor(t, { characters: 10, shortOctets: 1_000_000 });
  t.deepEqual(await decoder.bodies(indexMessage(large), reader(large), ALICE), {
    text: 'Grüße Grüß',
    html: '',
    partial: true,
  });
  const fewer = decoderFor(t, { octets: 8, shortOctets: 1_000_000 });
  t.deepEqual(await fewer.bodies(indexMessage(large), reader(large), ALICE), {
    text: 'Grüße ',
    html: '',
    partial: true,
  });
});

for (const [what, code] of [
  ['runs out of time', 'for(;;);'],
  ['runs out of heap', 'const a=[];for(;;)a.push(new Array(1e5).fill(a.length))'],
  ['throws', 'throw new Error("x")'],
  ['exits', 'process.exit(3)'],
] as const) {
  test(`a worker that ${what} costs the view its end, and is replaced`, async (t) => {
    const decoder = decoderFor(t, { module: rogue(code), jobMs: 1500, heapMb: 32 });
    const index = indexMessage(large);
    for (let round = 0; round < 2; round++) {
      const bodies = await decoder.bodies(index, reader(large), ALICE);
      t.true(bodies.partial);
      t.true(bodies.text.startsWith('Grüße Grüße'));
    }
  });
}

test('more than the queue holds is refused for now', async (t) => {
  const decoder = decoderFor(t, { module: rogue('for(;;);'), jobMs: 500, queue: 1 });
  const index = indexMessage(large);
  const first = decoder.bodies(index, reader(large), ALICE);
  const second = decoder.bodies(index, reader(large), ALICE);
  await turn();
  await t.throwsAsync(decoder.bodies(index, reader(large), ALICE), { instanceOf: DecoderBusy, code: 'decoder-busy' });
  t.true((await first).partial && (await second).partial);
});

test('close ends what is under way', async (t) => {
  const decoder = new BodyDecoder({ module: rogue('for(;;);'), jobMs: 60_000 });
  const under = [1, 2].map(() => decoder.bodies(indexMessage(large), reader(large), ALICE));
  await turn();
  await decoder.close();
  for (const bodies of await Promise.all(under)) t.true(bodies.partial);
  t.true((await decoder.bodies(indexMessage(large), reader(large), ALICE)).partial);
});

test('a read that fails is the caller’s to know', async (t) => {
  const decoder = decoderFor(t);
  await t.throwsAsync(
    decoder.bodies(indexMessage(alternative), () => Promise.reject(new Error('gone')), ALICE),
    { message: 'gone' },
  );
});

/** Returns a message of text parts, each with its number. */
function manyParts(count: number): Buffer {
  const parts = Array.from({ length: count }, (_, i) => `--b\r\n\r\n${i}\r\n`);
  return Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts.join('')}--b--\r\n`);
}

test('all bodies of a message are read at once, however many parts they are', async (t) => {
  const raw = manyParts(1000);
  const index = indexMessage(raw);
  let reads = 0;
  const bodies = await decoderFor(t).bodies(
    index,
    (ranges) => {
      reads++;
      return reader(raw)(ranges);
    },
    ALICE,
  );
  t.is(reads, 1);
  t.true(index.textSections.length > 500);
  t.is(bodies.text.split('\n').length, index.textSections.length);
});

test('accounts take turns: one that asks for many messages keeps another waiting for one of them', async (t) => {
  const decoder = decoderFor(t, PATIENT);
  const index = indexMessage(large);
  const order: string[] = [];
  const view = async (name: string, viewer: { accountId: string }) => {
    await decoder.bodies(index, reader(large), viewer);
    order.push(name);
  };
  const views = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => view(name, ALICE));
  views.push(view('b1', BOB));
  await Promise.all(views);
  t.deepEqual(order, ['a1', 'b1', 'a2', 'a3', 'a4', 'a5']);
});

test('an account has its share of the queue, and leaves the others theirs', async (t) => {
  const decoder = decoderFor(t, { module: rogue('for(;;);'), jobMs: 300, queueAnAccount: 2 });
  const index = indexMessage(large);
  const views = [1, 2, 3].map(() => decoder.bodies(index, reader(large), ALICE));
  await t.throwsAsync(decoder.bodies(index, reader(large), ALICE), { instanceOf: DecoderBusy });
  views.push(decoder.bodies(index, reader(large), BOB));
  for (const { partial } of await Promise.all(views)) t.true(partial);
});

test('nothing is read for those who wait, and an abandoned view ends, waiting or at work', async (t) => {
  const decoder = decoderFor(t, { module: rogue('for(;;);'), jobMs: 600_000 });
  const index = indexMessage(large);
  let reads = 0;
  const view = (signal: AbortSignal) =>
    decoder.bodies(
      index,
      (ranges) => {
        reads++;
        return reader(large)(ranges);
      },
      { ...ALICE, signal },
    );
  const [working, waiting, next] = [new AbortController(), new AbortController(), new AbortController()];
  const views = [working, waiting, next].map(({ signal }) => view(signal));
  await turn();
  t.is(reads, 1);
  waiting.abort();
  await t.throwsAsync(views[1]!, { instanceOf: DecodingAbandoned });
  working.abort();
  await t.throwsAsync(views[0]!, { instanceOf: DecodingAbandoned });
  await turn();
  t.is(reads, 2, 'the next had its turn, the one that had left none');
  next.abort();
  await t.throwsAsync(views[2]!, { instanceOf: DecodingAbandoned });
});

test('memory for what is shown is shared by account, and is given back once', async (t) => {
  const decoder = decoderFor(t, { shownOctets: 300_000, shownOctetsAnAccount: 200_000 });
  (await decoder.room(1_000, ALICE))();
  const first = await decoder.room(150_000, ALICE);
  let second = false;
  const waits = decoder.room(150_000, ALICE).then((release) => {
    second = true;
    return release;
  });
  const others = await decoder.room(150_000, BOB);
  await turn();
  t.false(second, 'over the share of the account');
  first();
  first();
  (await waits)();
  others();
  const all = await decoder.room(1e9, ALICE);
  const leaving = new AbortController();
  const late = decoder.room(100_000, { ...ALICE, signal: leaving.signal });
  leaving.abort();
  await t.throwsAsync(late, { instanceOf: DecodingAbandoned });
  all();
});
