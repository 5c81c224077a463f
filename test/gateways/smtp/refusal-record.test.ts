// Tests that refusals are recorded together, within bounds, and that a store that is away costs nothing but the record.
import type { SMTPServerSession } from 'smtp-server';
import { RefusalRecord } from '../../../src/gateways/smtp/refusal-record.js';
import type { RefusedMail } from '../../../src/store/traces/refused-mail.js';
import test from '../../support/test.js';

const session = (remoteAddress: string, sender?: string) =>
  ({ remoteAddress, envelope: { mailFrom: sender === undefined ? false : { address: sender } } }) as SMTPServerSession;
const refused = (...recipients: string[]) => ({ listener: 'mx', code: 550, reason: 'unknown', recipients }) as const;

test('a network has a part of what is recorded, and texts can be stored', async (t) => {
  const written: (readonly RefusedMail[])[] = [];
  const store = { add: async (refusals: readonly RefusedMail[]) => void written.push(refusals) };
  const record = new RefusalRecord({ store, node: 'one', log: { warn: () => t.fail() } });
  for (let i = 0; i < 50; i++) record.add(session('192.0.2.1'), refused(`r${i}@here.test`));
  record.add(session('198.51.100.1', 'a\0\ud800@there.test'), refused(`${'x'.repeat(400)}@here.test`));
  await record.close();
  t.is(written.length, 1);
  t.is(written[0]!.length, 11);
  const last = written[0]!.at(-1)!;
  t.like(last, { node: 'one', sender: 'a\ufffd@there.test', transaction: null, messageId: null, code: 550 });
  t.is(last.recipients[0]!.length, 320);
  t.is(written[0]![0]!.sender, null);

  for (let i = 0; i < 500; i++) record.add(session(`10.${i >> 8}.${i & 255}.1`), refused());
  await record.close();
  t.is(written[1]!.length, 200);
  await record.close();
  t.is(written.length, 2);
});

test('a record that cannot be written is dropped, with a line in the log', async (t) => {
  const lines: unknown[] = [];
  const store = { add: () => Promise.reject(new Error('away')) };
  const record = new RefusalRecord({ store, node: 'one', log: { warn: (about: unknown) => void lines.push(about) } });
  record.add(session('192.0.2.1'), refused());
  await record.close();
  t.like(lines[0], { count: 1 });
});
