// Tests the mboxrd form: quoting against the plain definition, however the message is cut, and with Python's reader.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { fromLine, MboxQuoter } from '../../src/mail-format/mbox.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';
import { testWith } from '../support/test-with.js';

const messages = fc
  .array(fc.constantFrom('From ', 'From', 'Fr', '>', '>>', '\r', '\n', '\r\n', '\r\n', 'x', 'é', ' '), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''));

function quoted(message: Buffer, cuts: readonly number[] = []): Buffer {
  const quoter = new MboxQuoter();
  const out: Buffer[] = [];
  let at = 0;
  for (const cut of [...cuts].map((c) => c % (message.length + 1)).sort((a, b) => a - b)) {
    out.push(Buffer.from(quoter.push(message.subarray(at, cut))));
    at = cut;
  }
  out.push(quoter.push(message.subarray(at)), quoter.end());
  return Buffer.concat(out);
}

function plainly(message: string): string {
  const text = message.replaceAll('\r\n', '\n').replace(/(^|(?<=\n))(>*From )/g, '>$2');
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}\n`;
}

test('what comes out is the definition, in one piece or in many', (t) => {
  fc.assert(
    fc.property(messages, fc.array(fc.nat(100), { maxLength: 8 }), (message, cuts) => {
      t.is(quoted(Buffer.from(message), cuts).toString(), plainly(message));
    }),
    { numRuns: runs(3000) },
  );
});

test('the separator has an address and an asctime date in UTC', (t) => {
  t.is(fromLine('a@b.test', Date.UTC(2026, 0, 2, 3, 4, 5)), 'From a@b.test Fri Jan  2 03:04:05 2026\n');
  t.is(fromLine('a b\r\nc@d', Date.UTC(2026, 10, 21)), 'From abc@d Sat Nov 21 00:00:00 2026\n');
  t.is(fromLine('', 0), 'From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n');
});

const READER = `
import mailbox, re, sys, base64
box = mailbox.mbox(sys.argv[1])
for key in box.keys():
    raw = re.sub(rb'(?m)^>(>*From )', rb'\\1', box.get_bytes(key))
    print(base64.b64encode(raw).decode())
`;

testWith('python3')('Python reads every message back', async (t) => {
  const bodies = fc
    .sample(messages, 200)
    .map((body, i) => `Subject: ${i}\r\n\r\n${body.replace(/\r(?!\n)/g, '')}x\r\n`);
  const file = join(temporaryDirectory('mansio-mbox-'), 'mail.mbox');
  const all = bodies.map((body) => Buffer.concat([Buffer.from(fromLine('a@b.test', 0)), quoted(Buffer.from(body))]));
  writeFileSync(file, Buffer.concat(all));
  const { stdout } = await promisify(execFile)('python3', ['-c', READER, file], { maxBuffer: 1e8 });
  const read = stdout
    .trim()
    .split('\n')
    .map((line) => Buffer.from(line, 'base64').toString());
  t.deepEqual(
    read,
    bodies.map((body) => body.replaceAll('\r\n', '\n')),
  );
});
