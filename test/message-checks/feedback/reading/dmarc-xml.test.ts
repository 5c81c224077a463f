// Tests the reader of DMARC reports: the shapes of large senders, and XML that is made to hurt.
import fc from 'fast-check';
import {
  type DmarcReport,
  MOST_SUMS,
  UnreadableReport,
} from '../../../../src/message-checks/feedback/feedback-reports.js';
import { readDmarcXml } from '../../../../src/message-checks/feedback/reading/dmarc-xml.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { BEGIN, google, microsoft, rfc9990 } from '../samples.js';

const read = (text: string): Promise<DmarcReport> => readDmarcXml(Buffer.from(text));

test('the report of Google: rows with the same results are one sum, addresses are canonical', async (t) => {
  t.deepEqual(await read(google()), {
    kind: 'dmarc',
    domain: 'example.test',
    organization: 'google.com',
    reportId: '11438256012735019452',
    begin: BEGIN * 1000,
    sums: [
      { source: '192.0.2.10', dkim: true, spf: true, disposition: 'none', messages: 40 },
      { source: '2001:db8::19', dkim: true, spf: false, disposition: 'none', messages: 2 },
    ],
  });
});

test('the report of Microsoft', async (t) => {
  t.deepEqual(await read(microsoft()), {
    kind: 'dmarc',
    domain: 'example.test',
    organization: 'Enterprise Outlook',
    reportId: '6a5a1d2e5a7a4e6c8a1f0f3d1c2b4a59',
    begin: BEGIN * 1000,
    sums: [{ source: '203.0.113.77', dkim: false, spf: false, disposition: 'quarantine', messages: 12 }],
  });
});

test('a report of RFC 9990', async (t) => {
  t.like(await read(rfc9990()), {
    domain: 'sub.example.test',
    organization: 'Müller & Söhne',
    sums: [
      { source: '198.51.100.4', dkim: false, spf: true, disposition: 'none', messages: 1 },
      { source: '198.51.100.5', dkim: false, spf: false, disposition: 'reject', messages: 4 },
    ],
  });
});

const withRow = (row: string) => google().replace(/<record>[\s\S]*<\/record>/, `<record><row>${row}</row></record>`);
const EVALUATED = '<policy_evaluated><disposition>none</disposition></policy_evaluated>';

const ENTITIES = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${'bcdefghi'
  .split('')
  .map((name, i) => `<!ENTITY ${name} "${`&${'abcdefghi'[i]};`.repeat(10)}">`)
  .join('')}]>`;

for (const [what, text, message] of [
  ['a billion laughs', google().replace('<feedback>', `${ENTITIES}<feedback>`).replace('google.com', '&i;'), /type/],
  [
    'an external document type',
    google().replace('<feedback>', '<!DOCTYPE f SYSTEM "file:///etc/passwd"><feedback>'),
    /type/,
  ],
  ['an unknown entity', google().replace('google.com', '&xxe;'), /malformed/],
  ['depth', `<feedback>${'<a>'.repeat(100_000)}`, /deep/],
  ['many attributes', `<feedback><a ${Array.from({ length: 500_001 }, (_, i) => `a${i}="1"`).join(' ')}/>`, /many/],
  ['another root', '<html><body/></html>', /no aggregate report/],
  ['tags that cross', '<feedback><a><b></a></b></feedback>', /malformed/],
  ['a cut report', google().slice(0, -30), /malformed/],
  ['an empty text', '', /malformed/],
  ['a row without an address', withRow(`<source_ip>mail.test</source_ip><count>1</count>${EVALUATED}`), /address/],
  ['a negative count', withRow(`<source_ip>192.0.2.1</source_ip><count>-1</count>${EVALUATED}`), /number/],
  ['a huge count', withRow(`<source_ip>192.0.2.1</source_ip><count>${'9'.repeat(30)}</count>${EVALUATED}`), /number/],
  ['a period without a start', google().replace(/<begin>.*<\/begin>/, ''), /period/],
  ['a period that is no time', google().replace(/<begin>.*<\/begin>/, '<begin>1e300</begin>'), /period/],
  ['no id', google().replace(/<report_id>.*<\/report_id>/, '<report_id> </report_id>'), /id of the report/],
  [
    'a long id',
    google().replace(/<report_id>.*<\/report_id>/, `<report_id>${'x'.repeat(1e6)}</report_id>`),
    /too long/,
  ],
  ['a domain that is none', google().replace('<domain>example.test', '<domain>../etc'), /domain/],
] as const)
  test(`refused: ${what}`, async (t) => {
    await t.throwsAsync(read(text), { instanceOf: UnreadableReport, message });
  });

test('a million rows are refused, and mail goes on meanwhile', async (t) => {
  const row = `<record><row><source_ip>192.0.2.1</source_ip><count>1</count>${EVALUATED}</row></record>`;
  const text = google().replace('</feedback>', `${row.repeat(1_000_000)}</feedback>`);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await t.throwsAsync(read(text), { instanceOf: UnreadableReport, message: /too many elements/ });
  clearInterval(timer);
  t.true(turns > 10, `${turns} turns`);
});

test('sources beyond the bound are summed together', async (t) => {
  const rows = Array.from(
    { length: MOST_SUMS + 50 },
    (_, i) =>
      `<record><row><source_ip>10.0.${i >> 8}.${i & 255}</source_ip><count>2</count>${EVALUATED}</row></record>`,
  );
  const { sums } = await read(google().replace(/<record>[\s\S]*<\/record>/, rows.join('')));
  t.is(sums.length, MOST_SUMS + 1);
  t.like(sums.at(-1), { source: '*', messages: 100 });
});

test('whatever octets arrive, the reader returns a report or refuses', async (t) => {
  const whole = google();
  await fc.assert(
    fc.asyncProperty(
      fc.nat(whole.length),
      fc.nat(40),
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('<', '>', '&', ']]>', '<!--', '<record>', '</row>')),
      async (at, length, put) => {
        try {
          const { sums } = await read(whole.slice(0, at) + put + whole.slice(at + length));
          for (const { messages } of sums) t.true(Number.isSafeInteger(messages));
        } catch (error) {
          if (!(error instanceof UnreadableReport)) throw error;
        }
      },
    ),
    { numRuns: runs(200) },
  );
});
