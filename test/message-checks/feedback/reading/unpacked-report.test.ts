// Tests how attachments are unpacked: archives that Python's zipfile makes, bombs, sizes that lie, and damaged archives.
import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { UnreadableReport } from '../../../../src/message-checks/feedback/feedback-reports.js';
import { unpackReport } from '../../../../src/message-checks/feedback/reading/unpacked-report.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { google } from '../samples.js';

/** Makes an archive with Python. `script` adds files to `z`, with `text` as the report. */
function zipped(script: string, text = google()): Buffer {
  const program = `import io, sys, zipfile
text = sys.stdin.buffer.read()
out = io.BytesIO()
with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
    ${script}
sys.stdout.buffer.write(out.getvalue())`;
  return execFileSync('python3', ['-c', program], { input: text, maxBuffer: 1 << 28 });
}

const DEFLATED = zipped("z.writestr('google.com!example.test!1!2.xml', text)");
const STORED = zipped("z.writestr('a.xml', text, zipfile.ZIP_STORED)");

for (const [what, packed] of [
  ['gzip', gzipSync(google())],
  ['a deflated ZIP archive', DEFLATED],
  ['a stored ZIP archive', STORED],
  ['a ZIP archive with a comment', zipped("z.writestr('a.xml', text); z.comment = b'x' * 60000")],
  ['plain text', Buffer.from(google())],
] as const)
  test(`unpacked: ${what}`, async (t) => {
    t.is((await unpackReport(packed)).toString(), google());
  });

/** Changes octets of the archive: a number of 1, 2 or 4 octets at each place behind a signature. */
function changed(
  archive: Buffer,
  signature: number,
  ...changes: [at: number, octets: number, value: number][]
): Buffer {
  const copy = Buffer.from(archive);
  const mark = Buffer.alloc(4);
  mark.writeUInt32LE(signature);
  const start = copy.lastIndexOf(mark);
  for (const [at, octets, value] of changes) copy.writeUIntLE(value, start + at, octets);
  return copy;
}
const CENTRAL = 0x02014b50;
const END = 0x06054b50;

const ZEROS = Buffer.alloc(300 * 1024 * 1024);

for (const [what, packed, message] of [
  ['a gzip bomb', gzipSync(ZEROS), /gzip/],
  [
    'a gzip bomb in two members',
    Buffer.concat([gzipSync(ZEROS.subarray(0, 2e7)), gzipSync(ZEROS.subarray(0, 2e7))]),
    /gzip/,
  ],
  ['a ZIP bomb', zipped("z.writestr('a.xml', b'0' * 300000000)", ''), /too large/],
  [
    'a ZIP bomb that says it is small',
    changed(zipped("z.writestr('a.xml', b'0' * 300000000)", ''), CENTRAL, [24, 4, 1000]),
    /bounds/,
  ],
  ['a size that is too small', changed(DEFLATED, CENTRAL, [24, 4, 10]), /damaged/],
  ['a packed size beyond the end', changed(DEFLATED, CENTRAL, [20, 4, 0x7fffffff]), /cut/],
  ['a place beyond the end', changed(DEFLATED, CENTRAL, [42, 4, 0x7fffffff]), /no file/],
  ['a directory beyond the end', changed(DEFLATED, END, [16, 4, 0xffffffff]), /no directory/],
  ['a wrong checksum', changed(DEFLATED, CENTRAL, [16, 4, 1]), /damaged/],
  ['an unknown compression', changed(DEFLATED, CENTRAL, [10, 2, 14]), /unknown compression/],
  ['an encrypted file', changed(DEFLATED, CENTRAL, [8, 2, 1]), /encrypted/],
  ['two files', zipped("z.writestr('a.xml', text); z.writestr('b.xml', text)"), /not one file/],
  ['no file', Buffer.concat([Buffer.from('PK\u0003\u0004'), zipped('pass', '')]), /not one file/],
  ['a path', zipped("z.writestr('../../../etc/cron.d/a.xml', text)"), /path/],
  ['a path of Windows', zipped("z.writestr('..\\\\\\\\a.xml', text)"), /path/],
  ['a cut archive', DEFLATED.subarray(0, 100), /no end/],
  ['four octets', Buffer.from('PK\u0003\u0004'), /no end/],
  ['a cut gzip file', gzipSync(google()).subarray(0, 100), /gzip/],
] as const)
  test(`refused: ${what}`, async (t) => {
    await t.throwsAsync(unpackReport(packed), { instanceOf: UnreadableReport, message });
  });

test('whatever octets change, the archive is unpacked or refused', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.nat(DEFLATED.length - 1), fc.nat(255), async (at, octet) => {
      const copy = Buffer.from(DEFLATED);
      copy[at] = octet;
      try {
        await unpackReport(copy);
      } catch (error) {
        if (!(error instanceof UnreadableReport)) throw error;
      }
    }),
    { numRuns: runs(300) },
  );
  t.pass();
});
