// Tests replies to a pipelined envelope: each belongs to its command, whatever pieces it arrives in, and replies that have arrived
// are read without a turn of the event loop for each.
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { ClientConnection } from '../../../src/net/smtp-client/connection.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { kinds, world } from './client-world.js';

const ZONES = { 'one.test': { MX: [[10, 'mx.one.test']] }, 'mx.one.test': { A: ['127.0.0.2'] } } as const;

/** Returns a connection that waits for this many replies, and the replies that it has read. */
function waiting(commands: number) {
  const taken: string[] = [];
  const inner = new ClientConnection({ host: 'mx.one.test' }, 256 * 1024) as unknown as {
    _responseActions: ((reply: string) => void)[];
    _onData(chunk: Buffer): void;
  };
  inner._responseActions = Array.from({ length: commands }, () => (reply: string) => void taken.push(reply));
  return { taken, say: (text: string) => inner._onData(Buffer.from(text)) };
}

test('replies that have come are taken at once, in their order; of one that has begun the rest is waited for', (t) => {
  const { taken, say } = waiting(4);
  say('250 1\r\n550-2\r\n550 2\r\n250-3');
  t.deepEqual(taken, ['250 1', '550-2\n550 2']);
  say('\r\n250 3\r\n354 4\r\n');
  t.deepEqual(taken, ['250 1', '550-2\n550 2', '250-3\n250 3', '354 4']);
});

test('empty lines between replies take no turns', (t) => {
  const { taken, say } = waiting(2);
  say(`${'\r\n'.repeat(20_000)}250 1\r\n${'\r\n'.repeat(20_000)}354 2\r\n\r\n`);
  t.deepEqual(taken, ['250 1', '354 2']);
});

const REPLIES = {
  '250 2.1.5 ok': 'delivered 2.0.0',
  '250-so\r\n250-many\r\n250 lines': 'delivered 2.0.0',
  '550-5.1.1 nobody\r\n550 5.1.1 here': 'permanent 5.1.1',
  '450 4.2.1 later': 'temporary 4.2.1',
  '421 4.3.2 bye': 'temporary 4.3.2',
} as const;
type Reply = keyof typeof REPLIES;

/** Returns the outcomes of recipients with these replies. */
function expected(replies: readonly Reply[]): readonly string[] {
  const closed = replies.findIndex((reply) => reply.startsWith('421'));
  if (closed === -1) return replies.map((reply) => REPLIES[reply]);
  return replies.map((reply, i) => (i < closed && !reply.startsWith('250') ? REPLIES[reply] : 'temporary 4.3.2'));
}

test('each recipient has the outcome of its own reply, whatever pieces the replies come in', async (t) => {
  const { bare, deliver } = await world(t, { zones: ZONES, limits: { messagesPerConnection: 1, closingMs: 1 } });
  let script: { readonly replies: readonly Reply[]; readonly cuts: readonly number[] };
  await bare('127.0.0.2', async (socket) => {
    socket.setNoDelay(true).setEncoding('latin1').write('220 x\r\n');
    const { replies, cuts } = script;
    const said = async (end: string) => {
      for (let text = ''; !text.endsWith(end); ) text += String((await once(socket, 'data'))[0]);
    };
    await said('\r\n');
    socket.write('250-x\r\n250 PIPELINING\r\n');
    await said('DATA\r\n');
    const closed = replies.findIndex((reply) => reply.startsWith('421'));
    const given = closed === -1 ? replies : replies.slice(0, closed + 1);
    const isAccepted = closed === -1 && replies.some((reply) => reply.startsWith('250'));
    const last = closed === -1 ? [isAccepted ? '354 go' : '503 5.5.1 nobody to send it to'] : [];
    const text = ['250 2.1.0 ok', ...given, ...last, ''].join('\r\n');
    const places = [0, ...cuts.map((cut) => cut % text.length), text.length].sort((a, b) => a - b);
    for (const [i, place] of places.slice(1).entries()) {
      socket.write(text.slice(places[i], place));
      await turn();
    }
    if (closed !== -1) return void socket.end();
    if (isAccepted) await said('\r\n.\r\n');
    if (isAccepted) socket.write('250 2.0.0 taken\r\n');
    socket.on('data', () => socket.end('221 bye\r\n'));
  });
  const scripts = fc.record({
    replies: fc.array(fc.constantFrom(...(Object.keys(REPLIES) as Reply[])), { minLength: 1, maxLength: 6 }),
    cuts: fc.array(fc.nat(400), { maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(scripts, async (drawn) => {
      script = drawn;
      const names = drawn.replies.map((_, i) => `r${i}`);
      const report = await deliver('one.test', names);
      t.deepEqual(
        names.map((name) => kinds(report)[name]),
        expected(drawn.replies),
        JSON.stringify(drawn),
      );
    }),
    { numRuns: runs(60) },
  );
});
