// Tests the counts in memory: equal results add up, an owner has a share, and what is counted is written at the latest with the close.
import pino from 'pino';
import { CountTally } from '../../../../src/message-checks/feedback/own/count-tally.js';
import test from '../../../support/test.js';

interface Result {
  readonly domain: string;
  readonly n: number;
  readonly network?: string;
}

function tally() {
  const written: { readonly result: Result; readonly times: number }[] = [];
  const counts = new CountTally<Result>({
    write: async (some) => void written.push(...some),
    lost: 'lost',
    log: pino({ level: 'silent' }),
  });
  return { counts, written };
}

test('equal results are one, and are written once', async (t) => {
  const { counts, written } = tally();
  for (const n of [1, 2, 1]) counts.add({ domain: 'peer.test', n });
  await counts.close();
  await counts.close();
  t.deepEqual(written, [
    { result: { domain: 'peer.test', n: 1 }, times: 2 },
    { result: { domain: 'peer.test', n: 2 }, times: 1 },
  ]);
});

test('subdomains share the bound of their owner, and others have room', async (t) => {
  const { counts, written } = tally();
  for (let n = 0; n < 1_500; n++) counts.add({ domain: `d${n}.flood.test`, n });
  counts.add({ domain: 'peer.test', n: 0 });
  // What is known is counted on.
  counts.add({ domain: 'd0.flood.test', n: 0 });
  await counts.close();
  t.is(written.length, 1_001);
  t.is(written[0]!.times, 2);
  t.is(written.at(-1)!.result.domain, 'peer.test');
});

test('a network of senders has a share of what an owner gets', async (t) => {
  const { counts, written } = tally();
  for (let n = 0; n < 300; n++) counts.add({ domain: 'peer.test', n, network: '192.0.2.1' });
  counts.add({ domain: 'peer.test', n: 0, network: '192.0.2.2' });
  await counts.close();
  t.is(written.length, 101);
});
