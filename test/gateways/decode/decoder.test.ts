// Bodies decoded in place and in a worker; budgets that end a job end its view, not the process.
import test from 'ava';
import { BodyDecoder, DecoderBusy, type DecoderLimits } from '../../../src/gateways/decode/decoder.js';
import { indexMessage } from '../../../src/mail/mime-index/indexer.js';

const reader = (raw: Buffer) => (start: number, end: number) => Promise.resolve(raw.subarray(start, end));

function decoderFor(t: { teardown(end: () => Promise<void>): void }, limits: Partial<DecoderLimits> = {}): BodyDecoder {
  const decoder = new BodyDecoder(limits);
  t.teardown(() => decoder.close());
  return decoder;
}

/** A worker that runs this instead of decoding. */
const rogue = (code: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import {parentPort} from 'node:worker_threads';parentPort.on('message',()=>{${code}})`)}`,
  );

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

test('a small message is decoded in place', async (t) => {
  const bodies = await decoderFor(t).bodies(indexMessage(alternative), reader(alternative));
  t.deepEqual(bodies, { text: 'Grüße', html: '<p>Grüße</p>', partial: false });
});

test('a large one in the worker gives the same', async (t) => {
  const decoder = decoderFor(t, { jobMs: 30_000 });
  const index = indexMessage(large);
  const all = await Promise.all([1, 2, 3].map(() => decoder.bodies(index, reader(large))));
  for (const bodies of all) t.deepEqual(bodies, { text: 'Grüße '.repeat(50_000), html: '', partial: false });
  const small = decoderFor(t, { inlineOctets: 0, jobMs: 30_000 });
  t.is((await small.bodies(indexMessage(alternative), reader(alternative))).text, 'Grüße');
});

test('a footer between html parts stays readable and harmless', async (t) => {
  const raw = Buffer.from(
    'Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>x</p>\n--b\n\n<list>\n--b--',
  );
  const bodies = await decoderFor(t).bodies(indexMessage(raw), reader(raw));
  t.is(bodies.text, '\nx\n\n<list>');
  t.is(bodies.html, '<p>x</p>\n<br>\n<div style="white-space: pre-wrap">&lt;list&gt;</div>');
});

test('what is over the cap is cut and said to be partial', async (t) => {
  const decoder = decoderFor(t, { characters: 10, inlineOctets: 1_000_000 });
  t.deepEqual(await decoder.bodies(indexMessage(large), reader(large)), {
    text: 'Grüße Grüß',
    html: '',
    partial: true,
  });
  const fewer = decoderFor(t, { octets: 8, inlineOctets: 1_000_000 });
  t.deepEqual(await fewer.bodies(indexMessage(large), reader(large)), { text: 'Grüße ', html: '', partial: true });
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
      const bodies = await decoder.bodies(index, reader(large));
      t.true(bodies.partial);
      t.true(bodies.text.startsWith('Grüße Grüße'));
    }
  });
}

test('more than the queue holds is refused for now', async (t) => {
  const decoder = decoderFor(t, { module: rogue('for(;;);'), jobMs: 500, queue: 1 });
  const index = indexMessage(large);
  const first = decoder.bodies(index, reader(large));
  const second = decoder.bodies(index, reader(large));
  await new Promise((resolve) => setImmediate(resolve));
  await t.throwsAsync(decoder.bodies(index, reader(large)), { instanceOf: DecoderBusy, code: 'decoder-busy' });
  t.true((await first).partial && (await second).partial);
});

test('close ends what is under way', async (t) => {
  const decoder = new BodyDecoder({ module: rogue('for(;;);'), jobMs: 60_000 });
  const under = [1, 2].map(() => decoder.bodies(indexMessage(large), reader(large)));
  await new Promise((resolve) => setImmediate(resolve));
  await decoder.close();
  for (const bodies of await Promise.all(under)) t.true(bodies.partial);
  t.true((await decoder.bodies(indexMessage(large), reader(large))).partial);
});

test('a read that fails is the caller’s to know', async (t) => {
  const decoder = decoderFor(t);
  await t.throwsAsync(
    decoder.bodies(indexMessage(alternative), () => Promise.reject(new Error('gone'))),
    { message: 'gone' },
  );
});
