// Tests servers that send more after the reply to a message, just when the connection is used again, so that each later reply is taken
// for that to the previous command. No recipient fails because of that, and none that the server refused counts as delivered.
import type { Socket } from 'node:net';
import { scripted } from '../../../dev/servers/remote-smtp.js';
import test from '../../support/test.js';
import { kinds, tried, world } from './client-world.js';

const ZONES = { 'one.test': { MX: [[10, 'mx.one.test']] }, 'mx.one.test': { A: ['127.0.0.2'] } } as const;

/** Knows no address that begins with `bad`. Sends `late` before the replies to the second message of a connection. */
function sayingMore(late: string, isPipelined: boolean) {
  const taken: string[][] = [];
  const talk = (socket: Socket) => {
    let messages = 0;
    let isLate = false;
    let recipients: string[] = [];
    socket.on('data', () => {
      if (messages !== 1 || isLate) return;
      isLate = true;
      socket.write(`${late}\r\n`);
    });
    scripted({
      EHLO: isPipelined ? '250-late\r\n250 PIPELINING' : '250 late',
      MAIL: () => {
        recipients = [];
        return '250 2.1.0 ok';
      },
      RCPT: (line) => {
        const [, local = ''] = /<(.*?)@/.exec(line) ?? [];
        if (local.startsWith('bad')) return '550 5.1.1 nobody';
        recipients.push(local);
        return '250 2.1.5 ok';
      },
      DATA: () => (recipients.length > 0 ? '354 go' : '554 5.5.1 nobody to send it to'),
      message: () => {
        messages++;
        taken.push(recipients);
        return '250 2.0.0 taken';
      },
    })(socket);
  };
  return { taken, talk };
}

const EXPECTED = { bad: 'permanent 5.1.1', good: 'delivered 2.0.0', fine: 'delivered 2.0.0', bad2: 'permanent 5.1.1' };

for (const isPipelined of [true, false]) {
  for (const late of [
    '250 2.0.0 once more',
    '550 5.7.1 after all',
    '451 4.0.0 hm',
    '250 a\r\n250 b',
    '550 a\r\n250 b',
  ]) {
    const how = `${JSON.stringify(late)}, ${isPipelined ? 'pipelined' : 'one by one'}`;
    test(`a reply that comes when the next message begins is for none of its recipients: ${how}`, async (t) => {
      for (const locals of [
        ['bad', 'good'],
        ['good', 'bad'],
        ['bad', 'good', 'fine'],
        ['good'],
        ['bad'],
        ['bad', 'bad2'],
      ] as const) {
        const { bare, deliver } = await world(t, { zones: ZONES });
        const { talk, taken } = sayingMore(late, isPipelined);
        const server = await bare('127.0.0.2', talk);
        await deliver('one.test', ['first']);
        const report = await deliver('one.test', locals);
        const outcomes = kinds(report);
        const about = `${locals}: ${JSON.stringify(outcomes)}`;
        for (const local of locals) {
          // A recipient that is retried later suffers no harm.
          if (late.startsWith('451') && outcomes[local]!.startsWith('temporary')) continue;
          t.is(outcomes[local], EXPECTED[local], about);
        }
        const delivered = locals.filter((local) => outcomes[local]!.startsWith('delivered'));
        t.deepEqual(taken.slice(1), delivered.length === 0 ? [] : [delivered], about);
        await server.close();
      }
    });
  }
}

test('a refusal on a connection that was used before is asked for once more on another one, other refusals are not', async (t) => {
  const { bare, deliver } = await world(t, { zones: ZONES });
  const { talk } = sayingMore('', true);
  const server = await bare('127.0.0.2', talk);
  t.deepEqual(kinds(await deliver('one.test', ['bad'])), { bad: EXPECTED.bad });
  t.is(server.connections, 1);
  const report = await deliver('one.test', ['bad']);
  t.deepEqual(kinds(report), { bad: EXPECTED.bad });
  t.deepEqual(tried(report), ['mx.one.test 127.0.0.2']);
  t.is(server.connections, 2);
  t.deepEqual(kinds(await deliver('one.test', ['good'])), { good: EXPECTED.good });
  t.deepEqual(kinds(await deliver('one.test', ['bad', 'good'])), { bad: EXPECTED.bad, good: EXPECTED.good });
  t.is(server.connections, 2, 'a reply of 354 shows that each reply belongs to its command');
});
