import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { pino } from 'pino';
import type { KeyPair } from '../../src/gateways/tcp/certificate-source.js';
import { openTls, TlsFault } from '../../src/node/tls.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const log = pino({ level: 'silent' });
const directory = () => temporaryDirectory('mansio-tls-');
const selfMade = (dataDir: string, hostname = 'mail.example.test') =>
  openTls({ files: undefined, dataDir, hostname, log });

/** An operator's pair in `dir`. */
async function operatorPair(dir: string) {
  const made = directory();
  (await selfMade(made)).stop();
  const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') };
  mkdirSync(dir, { recursive: true });
  renameSync(join(made, 'tls-cert.pem'), files.cert);
  renameSync(join(made, 'tls-key.pem'), files.key);
  return files;
}

test('a self-signed pair is made once, for the host and loopback, its key private', async (t) => {
  const dataDir = directory();
  const first = await selfMade(dataDir);
  const { cert, key } = first.current();
  const leaf = new X509Certificate(cert);
  t.true(leaf.checkPrivateKey(createPrivateKey(key)));
  t.is(leaf.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  for (const name of ['mail.example.test', 'localhost']) t.is(leaf.checkHost(name), name);
  for (const address of ['127.0.0.1', '::1']) t.truthy(leaf.checkIP(address), address);
  t.is(first.notAfter.getTime(), Date.parse(leaf.validTo));
  t.is(statSync(join(dataDir, 'tls-key.pem')).mode & 0o777, 0o600);
  first.stop();

  const second = await selfMade(dataDir);
  t.is(second.current().cert, cert);
  second.stop();
});

test('a self-signed pair that lost its key is made again', async (t) => {
  const dataDir = directory();
  const first = await selfMade(dataDir);
  first.stop();
  rmSync(join(dataDir, 'tls-key.pem'));
  const second = await selfMade(dataDir);
  t.not(second.current().cert, first.current().cert);
  second.stop();
});

test('a changed pair is taken, also when its files are replaced one after the other', async (t) => {
  const files = await operatorPair(directory());
  const tls = await openTls({ files, dataDir: directory(), hostname: 'a.test', log });
  const seen: KeyPair[] = [];
  const off = tls.onChange((pair) => seen.push(pair));
  const before = tls.current();

  const next = await operatorPair(directory());
  renameSync(next.cert, files.cert);
  await tls.reload();
  t.is(tls.current(), before);
  renameSync(next.key, files.key);
  await tls.reload();
  t.is(tls.current().cert, readFileSync(files.cert, 'utf8'));
  t.deepEqual(seen, [tls.current()]);

  off();
  const last = await operatorPair(directory());
  renameSync(last.cert, files.cert);
  renameSync(last.key, files.key);
  await tls.reload();
  t.is(seen.length, 1);
  tls.stop();
});

test('the polls see a change by themselves', async (t) => {
  const files = await operatorPair(directory());
  const tls = await openTls({ files, dataDir: directory(), hostname: 'a.test', log, pollMs: 10 });
  const changed = new Promise<KeyPair>((resolve) => tls.onChange(resolve));
  const next = await operatorPair(directory());
  renameSync(next.cert, files.cert);
  renameSync(next.key, files.key);
  // The poll does not keep a process alive; here something has to.
  const awake = setInterval(() => {}, 1000);
  t.is((await changed).cert, readFileSync(files.cert, 'utf8'));
  clearInterval(awake);
  tls.stop();
});

test('a broken or missing new file leaves the old pair in use', async (t) => {
  const files = await operatorPair(directory());
  const tls = await openTls({ files, dataDir: directory(), hostname: 'a.test', log });
  const before = tls.current();
  writeFileSync(files.cert, 'no certificate');
  await tls.reload();
  t.is(tls.current(), before);
  rmSync(files.cert);
  await tls.reload();
  t.is(tls.current(), before);
  writeFileSync(files.cert, before.cert);
  await tls.reload();
  t.is(tls.current().cert, before.cert);
  tls.stop();
});

test('files that make no pair stop the start', async (t) => {
  const one = await operatorPair(directory());
  const other = await operatorPair(directory());
  const open = (cert: string, key: string) =>
    openTls({ files: { cert, key }, dataDir: directory(), hostname: 'a.test', log });
  await t.throwsAsync(open(one.cert, other.key), { instanceOf: TlsFault, message: /is not the one of/ });
  await t.throwsAsync(open(one.key, one.key), { instanceOf: TlsFault, message: /MANSIO_TLS_CERT/ });
  await t.throwsAsync(open(one.cert, one.cert), { instanceOf: TlsFault, message: /MANSIO_TLS_KEY/ });
  await t.throwsAsync(open(one.cert, `${one.key}.gone`), { instanceOf: TlsFault, message: /cannot read/ });
});
