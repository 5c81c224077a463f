// Tests the check of rspamd with a scripted worker.
import { rspamdCheck } from '../../../src/node/doctor/rspamd-check.js';
import { startScriptedRspamd } from '../../support/peers/scripted-rspamd.js';
import test from '../../support/test.js';
import { subjectFor } from './subjects.js';

test('a worker that answers is ok, another server and a silent address are not', async (t) => {
  const found = async (env: Record<string, string>) => rspamdCheck.run((await subjectFor(t, { env })).subject);
  t.deepEqual(await found({}), []);
  const rspamd = await startScriptedRspamd(t);
  t.like(await found({ MANSIO_RSPAMD_URL: rspamd.url }), [{ subject: new URL(rspamd.url).host, status: 'ok' }]);
  const gone = { MANSIO_RSPAMD_URL: 'http://127.0.0.1:1' };
  t.like(await found(gone), [{ subject: '127.0.0.1:1', status: 'warn', fix: 'systemctl restart rspamd' }]);
  t.like(await found({ ...gone, MANSIO_CONTENT_CHECK_FAILURE: 'defer' }), [{ status: 'fail' }]);
});
