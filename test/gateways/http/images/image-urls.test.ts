// Tests signed URLs of images: what is signed is verified for an hour, and nothing else is.
import fc from 'fast-check';
import { ImageUrls, imageUrls } from '../../../../src/gateways/http/images/image-urls.js';
import test from '../../../support/test.js';
import { ALICE, BOB } from '../fakes.js';

const HOUR_MS = 3_600_000;
const queryOf = (signed: string) => Object.fromEntries(new URL(signed, 'http://localhost').searchParams);

test('any URL comes back from what was signed', (t) => {
  const urls = new ImageUrls('secret');
  fc.assert(
    fc.property(fc.string(), (url) => {
      const signed = urls.signed(ALICE, url);
      t.true(signed.startsWith('/api/image-proxy?'));
      t.deepEqual(Object.keys(queryOf(signed)), ['url', 'account', 'expires', 'signature']);
      t.deepEqual(urls.verified(queryOf(signed)), { url, accountId: ALICE });
    }),
  );
});

test('a changed, missing or foreign parameter is refused', (t) => {
  const urls = new ImageUrls('secret');
  const query = queryOf(urls.signed(ALICE, 'https://img.example.org/a.png?b=c'));
  const { signature = '' } = query;
  const changes: Record<string, string | undefined>[] = [
    ...Object.keys(query).flatMap((name) => [{ [name]: undefined }, { [name]: '' }, { [name]: `${query[name]}0` }]),
    { url: 'https://img.example.org/a.png?b=d' },
    { account: BOB },
    { expires: String(Number(query['expires']) + 1) },
    { expires: `0${query['expires']}` },
    { expires: '1e99' },
    { signature: `${signature}=` },
    { signature: signature.slice(0, -1) },
    { signature: 'A'.repeat(signature.length) },
    { signature: '💌' },
  ];
  for (const change of changes) t.is(urls.verified({ ...query, ...change }), undefined, JSON.stringify(change));
  t.is(new ImageUrls('another secret').verified(query), undefined);
  t.truthy(urls.verified(query));
});

test('a signature is good for an hour', (t) => {
  let now = Date.UTC(2026, 10, 29);
  const urls = new ImageUrls('secret', () => now);
  const query = queryOf(urls.signed(ALICE, 'https://img.example.org/a.png'));
  now += HOUR_MS - 1;
  t.truthy(urls.verified(query));
  now += 1;
  t.is(urls.verified(query), undefined);
});

test('all nodes share one secret', async (t) => {
  const stored = new Map<string, string>();
  const settings = {
    async getOrCreate(key: string, initial: () => string) {
      if (!stored.has(key)) stored.set(key, initial());
      return stored.get(key)!;
    },
  };
  const [one, another] = [await imageUrls(settings), await imageUrls(settings)];
  t.truthy(another.verified(queryOf(one.signed(ALICE, 'https://img.example.org/a.png'))));
  t.regex([...stored.values()].join(), /^[\w-]{43}$/);
});
