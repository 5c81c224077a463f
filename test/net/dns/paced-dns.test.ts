// Tests how many look-ups run at a time.
import { pacedDns } from '../../../src/net/dns/paced-dns.js';
import { type Dns, DnsFailure } from '../../../src/net/dns/resolver.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';

/** Answers when the test says so. */
function manualDns() {
  const asked = new Map<string, { answer(): void; fail(): void }>();
  const dns = {
    resolve: (name: string) =>
      new Promise((resolve, reject) => {
        asked.set(name, {
          answer: () => resolve([name]),
          fail: () => reject(new DnsFailure('ENOTFOUND', name, 'A')),
        });
      }),
  } as unknown as Dns;
  return { dns, asked };
}

test('a look-up waits for a place, which an answer or a failure frees', async (t) => {
  const { dns, asked } = manualDns();
  const paced = pacedDns(dns, { most: 2, countsMs: 60_000 });
  const looks = ['a', 'b', 'c', 'd'].map((name) => paced.resolve(name, 'A'));
  await turn();
  t.deepEqual([...asked.keys()], ['a', 'b']);
  asked.get('b')!.fail();
  await t.throwsAsync(looks[1]!, { instanceOf: DnsFailure });
  await turn();
  t.deepEqual([...asked.keys()], ['a', 'b', 'c']);
  asked.get('a')!.answer();
  t.deepEqual(await looks[0], ['a']);
  await turn();
  t.deepEqual([...asked.keys()], ['a', 'b', 'c', 'd']);
  for (const name of ['c', 'd']) asked.get(name)!.answer();
  t.deepEqual(await Promise.all(looks.slice(2)), [['c'], ['d']]);
});

test('a silent name gives its place up', async (t) => {
  const { dns, asked } = manualDns();
  const paced = pacedDns(dns, { most: 1, countsMs: 5 });
  const silent = paced.resolve('silent', 'A');
  const next = paced.resolve('next', 'A');
  while (!asked.has('next')) await turn();
  asked.get('next')!.answer();
  t.deepEqual(await next, ['next']);
  asked.get('silent')!.answer();
  t.deepEqual(await silent, ['silent']);
});
