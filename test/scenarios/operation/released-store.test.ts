// Tests that stores of released versions can be read for ever (decision 0082): the backup of a small store of each version, recorded in
// dev/released, is restored, migrated and served; users see what they saw then, and the queue goes on.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { mansio } from '../../support/command.js';
import { testDatabase } from '../../support/database/embedded-database.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { type RecordedStore, viewOf } from './store-view.js';

const RELEASES = 'dev/released';

for (const version of readdirSync(RELEASES).filter((name) => existsSync(join(RELEASES, name, 'store.backup')))) {
  test(`a store of ${version} is restored and shows what it had`, async (t) => {
    const folder = join(RELEASES, version);
    const { key, identity, view }: RecordedStore = JSON.parse(readFileSync(join(folder, 'store.json'), 'utf8'));
    const { host, port, user, database } = (await testDatabase(t)).address as Readonly<Record<string, unknown>>;
    const dataDir = temporaryDirectory('mansio-released-');
    const settings = { DATABASE_URL: `postgres://${user}@${host}:${port}/${database}` };
    const identityFile = join(temporaryDirectory('mansio-released-'), 'identity');
    writeFileSync(identityFile, `${identity}\n`);
    const file = join(folder, 'store.backup');
    const restored = await mansio(dataDir, ['restore', file, '--identity-file', identityFile, '--json'], settings);
    t.is(restored.code, 0, restored.stderr);

    const node = await startTestNode({ ...settings, MANSIO_DATA_DIR: dataDir });
    t.teardown(() => node.stop());
    const { filters, ...shown } = await viewOf(node, key);
    const { filters: recorded, ...others } = view;
    t.deepEqual(shown, others);
    // Filters may have members that the release did not have.
    t.is(filters.length, recorded.length);
    t.like(filters, recorded);
    const queue = JSON.parse(
      (await mansio(dataDir, ['queue', 'list', '--status', 'Queued', '--json'], settings)).stdout,
    );
    t.deepEqual(
      queue.map(({ status, awaitsRelease }: Record<string, unknown>) => ({ status, awaitsRelease })),
      [{ status: 'Queued', awaitsRelease: true }],
    );
    const client = new MailboxClient(node, key);
    const [first] = view.emails;
    t.is((await client.request('PATCH', `/api/emails/${first!.id}`, { isRead: !first!.isRead })).status, 204);
    t.is((await client.inbox()).find(({ id }) => id === first!.id)?.isRead, !first!.isRead);
  });
}
