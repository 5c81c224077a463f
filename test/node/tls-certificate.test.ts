// Tests a certificate that the node makes itself: only this loads the packages that it needs.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from '../support/test.js';
import '../../src/main.js';
import { selfSigned } from '../../src/node/tls-certificate.js';
import { recordingLog } from '../support/hub-fakes.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

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
