// Tests that a blob which was stored survives a crash of the database: what refers to it may be committed after the crash.
import { createHash, randomBytes } from 'node:crypto';
import { startPostgresServer } from '../../../../dev/servers/postgres-server.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { postgresBlobs } from '../../../../src/store/postgres/mailbox/blobs.js';
import { preparedDirectory } from '../../../support/database/prepared-cluster.js';
import test from '../../../support/test.js';

function content(octets: number) {
  const bytes = Buffer.concat([Buffer.from('Subject: x\r\n\r\n'), randomBytes(octets)]);
  const index = indexMessage(Buffer.from('Subject: x\r\n\r\nbody'));
  return { hash: createHash('sha256').update(bytes).digest('hex'), size: bytes.length, index, chunks: () => [bytes] };
}

for (const [kind, octets] of [
  ['small', 1_000],
  ['large', 500_000],
] as const) {
  test(`a ${kind} blob that was stored is there after a crash`, async (t) => {
    const server = await startPostgresServer({
      dataDir: await preparedDirectory('mansio-blobs-'),
      // Only a commit that waits for the disk brings itself there in time.
      settings: { shared_buffers: '32MB', wal_writer_delay: '10s', wal_writer_flush_after: '100MB' },
    });
    t.teardown(() => server.kill());
    const before = connect({ url: server.url }, { max: 1, applicationName: 'test' });
    const blob = content(octets);
    await postgresBlobs(before).put(blob);
    await server.kill();
    await before.end({ timeout: 0 });
    await server.start();
    const after = connect({ url: server.url }, { max: 1, applicationName: 'test' });
    t.teardown(() => after.end());
    t.is((await postgresBlobs(after).read(blob.hash, 0, blob.size)).length, blob.size);
  });
}
