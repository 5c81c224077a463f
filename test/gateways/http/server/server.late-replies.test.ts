// Tests slow replies: uWebSockets.js closes connections that are silent for ten seconds, and no reply must be lost to that.
import { setTimeout as sleep } from 'node:timers/promises';
import { startHttp } from '../../../../src/gateways/http/server/server.js';
import test from '../../../support/test.js';
import { FakeLog } from '../fakes.js';

/** This is longer than the library waits, with its rounding. */
const SILENCE_MS = 15_000;

async function* slowly() {
  yield Buffer.from('first ');
  await sleep(SILENCE_MS);
  yield Buffer.from('second');
}

test('a reply may come late, and a stream may be silent', async (t) => {
  const server = await startHttp({
    bind: '127.0.0.1',
    port: 0,
    async handler({ path, aborted }) {
      aborted.addEventListener('abort', () => t.fail('the connection was closed'));
      if (path === '/stream') return { status: 200, headers: [], body: { length: null, chunks: slowly() } };
      await sleep(SILENCE_MS);
      return { status: 200, headers: [], body: Buffer.from('late') };
    },
    webSockets: [],
    log: new FakeLog(),
  });
  t.teardown(() => server.stop(0));
  const text = async (path: string, method = 'GET') =>
    (await fetch(`http://${server.address}${path}`, { method })).text();
  t.deepEqual(await Promise.all([text('/late'), text('/late', 'POST'), text('/stream')]), [
    'late',
    'late',
    'first second',
  ]);
});
