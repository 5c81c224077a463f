// Tests the stream of an export: it skips emails that are gone, and sends large messages piece by piece.

import type { ExportedEmail, ExportPosition, Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import { mboxStream } from '../../../src/gateways/http/mbox-stream.js';
import test from '../../support/test.js';

function sources(emails: readonly ExportedEmail[]) {
  const seen = { pages: 0, read: 0, streamed: 0 };
  const ask = async (_name: string, { place, limit }: { place: ExportPosition | null; limit: number }) => {
    seen.pages++;
    const start = place === null ? 0 : emails.findIndex(({ id }) => id === place.id) + 1;
    const page = emails.slice(start, start + limit);
    const last = page.length === limit ? page.at(-1)! : undefined;
    return { reply: { emails: page, place: last === undefined ? null : { ...last, newestId: '' } } };
  };
  const blobs = {
    async readAll(hashes: readonly string[]) {
      seen.read += hashes.length;
      return new Map(hashes.filter((hash) => hash !== 'gone').map((hash) => [hash, Buffer.from(`${hash}\r\n`)]));
    },
    async *stream(hash: string) {
      for (let i = 0; i < 3; i++) {
        seen.streamed++;
        yield Buffer.from(`${hash} piece ${i}\r\n`);
      }
    },
  };
  return { seen, sources: { mailboxes: { of: () => ({ ask }) } as unknown as Mailboxes, blobs } };
}

const email = (n: number, more: Partial<ExportedEmail> = {}): ExportedEmail => ({
  id: `id${n}`,
  blob: `blob${n}`,
  fromAddress: 'a@b.test',
  receivedAt: n,
  size: 5_000,
  ...more,
});

async function text(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces = [];
  for await (const piece of stream) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

test('everything in order, what is gone left out, large messages in pieces, no more than the limit', async (t) => {
  const emails = Array.from({ length: 1_200 }, (_, i) => email(i));
  emails[3] = email(3, { blob: 'gone' });
  emails[700] = email(700, { size: 1_000_000 });
  const { seen, sources: from } = sources(emails);
  const messages = (await text(mboxStream(from, 'account', {}, 1_100))).split(/^From .*\n/m).slice(1);
  const bodies = emails.slice(0, 1_100).flatMap(({ blob }, i) => {
    if (blob === 'gone') return [];
    return [i === 700 ? [0, 1, 2].map((n) => `${blob} piece ${n}\n`).join('') : `${blob}\n`];
  });
  t.deepEqual(
    messages,
    bodies.map((body) => `${body}\n`),
  );
  t.is(seen.streamed, 3);
});

test('nothing to export is an empty file', async (t) => {
  t.is(await text(mboxStream(sources([]).sources, 'account', {}, 100)), '');
});
