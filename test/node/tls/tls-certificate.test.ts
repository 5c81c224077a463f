// Tests a certificate that the node makes itself: only this loads the packages that it needs.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from '../../support/test.js';
import '../../../src/node/node.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { selfSigned } from '../../../src/node/tls/tls-certificate.js';
import { recordingLog } from '../../support/hub-fakes.js';

test('the packages are loaded when a certificate is made, which later starts find', async (t) => {
  const isLoaded = () => 'getMetadata' in Reflect;
  t.false(isLoaded(), 'a node without need of it');
  const directory = temporaryDirectory();
  const { log } = recordingLog();
  const files = await selfSigned(directory, 'mail.example.test', log);
  t.true(isLoaded());
  const made = readFileSync(files.cert);
  t.regex(new X509Certificate(made).subjectAltName ?? '', /DNS:mail\.example\.test/);
  await selfSigned(directory, 'mail.example.test', log);
  t.deepEqual(readFileSync(files.cert), made);
});
