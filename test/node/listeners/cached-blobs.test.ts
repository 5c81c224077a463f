import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { BlobDiskCache } from '../../../src/message-content/spool/blob-disk-cache.js';
import { cachedBlobs } from '../../../src/node/listeners/cached-blobs.js';
import { blobOf } from '../../../src/store/blobs.js';
import { FakeBlobs } from '../../gateways/http/fakes.js';
import test from '../../support/test.js';

test('a blob that was read is read near at hand, and one that is not there is not there', async (t) => {
  const cache = await BlobDiskCache.open(temporaryDirectory('mansio-found-'), 1_000_000);
  t.teardown(() => cache.close());
  const asked: (readonly string[])[] = [];
  const store = new (class extends FakeBlobs {
    override async readAll(hashes: readonly string[]) {
      asked.push(hashes);
      return super.readAll(hashes);
    }
  })();
  const contents = ['one', 'two', 'three'].map((text) => blobOf(Buffer.from(text)));
  for (const content of contents) await store.put(content);
  const [one, two, three] = contents.map(({ hash }) => hash) as [string, string, string];
  const blobs = cachedBlobs(store, cache);
  const texts = async (hashes: string[]) =>
    new Map([...(await blobs.readAll(hashes))].map(([hash, bytes]) => [hash, Buffer.from(bytes).toString()]));
  t.deepEqual(await texts([one, 'gone']), new Map([[one, 'one']]));
  await cache.settled();
  t.deepEqual(
    await texts([three, one, two]),
    new Map([
      [one, 'one'],
      [three, 'three'],
      [two, 'two'],
    ]),
  );
  await cache.settled();
  t.is((await texts([one, two, three])).size, 3);
  t.deepEqual(asked, [
    [one, 'gone'],
    [three, two],
  ]);
});
