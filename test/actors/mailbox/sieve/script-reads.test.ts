// Tests how much is read for scripts at once: the share of an account, and what a failed read leaves.
import { readScripted } from '../../../../src/actors/mailbox/sieve/script-reads.js';
import { blobOf } from '../../../../src/store/blobs.js';
import test from '../../../support/test.js';

const MIB = 1024 * 1024;

/** Messages of 2 MiB, of which scripts see the first MiB; `held`: what is read and not released, in MiB. */
function store(count: number) {
  const contents = Array.from({ length: count }, (_, i) =>
    blobOf(Buffer.from(`Subject: ${i}\r\n\r\n${'x'.repeat(2 * MIB)}`)),
  );
  const reads: number[] = [];
  const blobs = {
    index: async (hash: string) => contents.find((content) => content.hash === hash)?.index,
    read: async (hash: string, start: number, end: number) => {
      reads.push(end - start);
      const [octets] = contents.find((content) => content.hash === hash)!.chunks() as Iterable<Uint8Array>;
      return Buffer.from(octets!.subarray(start, end));
    },
  };
  return { blobs, reads, messages: contents.map(({ hash: blob }) => ({ blob, readsBody: true })) };
}

test('an account reads 16 MiB at once: what does not fit is a temporary fault', async (t) => {
  const { blobs, reads, messages } = store(18);
  const { messages: read, release } = await readScripted(blobs as never, 'one', messages);
  const faults = [...read.values()].flatMap((one) => ('fault' in one ? [one.fault as { temporary: boolean }] : []));
  t.is(read.size, 18);
  t.is(faults.length, 2);
  t.true(faults.every(({ temporary }) => temporary));
  t.true(reads.every((octets) => octets === MIB));
  release();
});

test('further messages of an account wait until the first ones are released, those of others do not', async (t) => {
  const { blobs, reads, messages } = store(16);
  const first = await readScripted(blobs as never, 'two', messages);
  let isRead = false;
  const second = readScripted(blobs as never, 'two', messages.slice(0, 1)).then((read) => {
    isRead = true;
    return read;
  });
  const other = await readScripted(blobs as never, 'three', messages.slice(0, 1));
  t.is(reads.length, 17);
  t.false(isRead);
  first.release();
  (await second).release();
  other.release();
  t.is(reads.length, 18);
});

test('messages that wait for the memory too long are read later, and nothing of it is theirs', async (t) => {
  const { blobs, reads, messages } = store(16);
  const first = await readScripted(blobs as never, 'five', messages);
  const over = new AbortController();
  const waiting = readScripted(blobs as never, 'five', messages.slice(0, 2), over.signal);
  over.abort();
  const { messages: read, release } = await waiting;
  t.is(read.size, 2);
  t.true([...read.values()].every((one) => 'fault' in one && (one.fault as { temporary: boolean }).temporary));
  release();
  t.is(reads.length, 16);
  const ended = await readScripted(blobs as never, 'five', messages.slice(0, 1), over.signal);
  t.true('fault' in ended.messages.get(messages[0]!.blob)!, 'the share is still in use');
  first.release();
  const last = await readScripted(blobs as never, 'five', messages);
  t.true([...last.messages.values()].every((one) => 'fields' in one));
  last.release();
});

test('a message that cannot be read does not keep the others', async (t) => {
  const { blobs, messages } = store(2);
  const all = [{ blob: 'missing', readsBody: true }, ...messages];
  const { messages: read, release } = await readScripted(blobs as never, 'four', all);
  t.true('fault' in read.get('missing')!);
  t.is([...read.values()].filter((one) => 'fields' in one).length, 2);
  release();
});
