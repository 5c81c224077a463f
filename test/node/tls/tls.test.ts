import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { openTls, TlsFault, type TlsFiles, type TlsMaterial, type TlsOptions } from '../../../src/node/tls/tls.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';

const log = pino({ level: 'silent' });
const directory = () => temporaryDirectory('mansio-tls-');
const selfMade = (dataDir: string, hostname = 'mail.example.test') =>
  openTls({ files: undefined, dataDir, hostname, log });

const opened = (files: readonly TlsFiles[], more: Partial<TlsOptions> = {}) =>
  openTls({ files, dataDir: directory(), hostname: 'a.test', log, ...more });
/** Returns the first pair. */
const pairOf = ({ certificates }: TlsMaterial) => certificates.pairs[0]!;

/** Makes an operator's pair in `dir`. */
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
  const { cert, key } = pairOf(first);
  const leaf = new X509Certificate(cert);
  t.true(leaf.checkPrivateKey(createPrivateKey(key)));
  t.is(leaf.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  for (const name of ['mail.example.test', 'localhost']) t.is(leaf.checkHost(name), name);
  for (const address of ['127.0.0.1', '::1']) t.truthy(leaf.checkIP(address), address);
  t.is(first.certificates.presented.expiresAt.getTime(), Date.parse(leaf.validTo));
  t.is(statSync(join(dataDir, 'tls-key.pem')).mode & 0o777, 0o600);
  first.stop();

  const second = await selfMade(dataDir);
  t.is(pairOf(second).cert, cert);
  second.stop();
});

test('a self-signed pair that lost its key is made again', async (t) => {
  const dataDir = directory();
  const first = await selfMade(dataDir);
  first.stop();
  rmSync(join(dataDir, 'tls-key.pem'));
  const second = await selfMade(dataDir);
  t.not(pairOf(second).cert, pairOf(first).cert);
  second.stop();
});

test('a changed pair is taken, also when its files are replaced one after the other', async (t) => {
  const files = await operatorPair(directory());
  const tls = await opened([files]);
  const [before, { context }] = [pairOf(tls), tls.certificates];

  const next = await operatorPair(directory());
  renameSync(next.cert, files.cert);
  await tls.reload();
  t.is(pairOf(tls), before);
  t.is(tls.certificates.context, context);
  renameSync(next.key, files.key);
  await tls.reload();
  t.is(pairOf(tls).cert, readFileSync(files.cert, 'utf8'));
  t.not(tls.certificates.context, context);
  tls.stop();
});

test('the polls see a change by themselves', async (t) => {
  const files = await operatorPair(directory());
  const tls = await opened([files], { pollMs: 10 });
  const { context } = tls.certificates;
  const next = await operatorPair(directory());
  renameSync(next.cert, files.cert);
  renameSync(next.key, files.key);
  await until(() => tls.certificates.context !== context);
  t.is(pairOf(tls).cert, readFileSync(files.cert, 'utf8'));
  tls.stop();
});

test('a pair whose files are broken keeps no other from being renewed', async (t) => {
  const [broken, files] = [await operatorPair(directory()), await operatorPair(directory())];
  const tls = await opened([broken, files]);
  const [kept] = tls.certificates.pairs;
  writeFileSync(broken.cert, 'broken');
  const next = await operatorPair(directory());
  renameSync(next.cert, files.cert);
  renameSync(next.key, files.key);
  await tls.reload();
  t.is(tls.certificates.pairs[0], kept);
  t.is(tls.certificates.pairs[1]!.cert, readFileSync(files.cert, 'utf8'));
  tls.stop();
});

test('a broken or missing new file leaves the old pair in use', async (t) => {
  const files = await operatorPair(directory());
  const tls = await opened([files]);
  const before = pairOf(tls);
  writeFileSync(files.cert, 'no certificate');
  await tls.reload();
  t.is(pairOf(tls), before);
  rmSync(files.cert);
  await tls.reload();
  t.is(pairOf(tls), before);
  writeFileSync(files.cert, before.cert);
  await tls.reload();
  t.is(pairOf(tls).cert, before.cert);
  tls.stop();
});

test('files that make no pair stop the start', async (t) => {
  const one = await operatorPair(directory());
  const other = await operatorPair(directory());
  const open = (cert: string, key: string) =>
    openTls({ files: [one, { cert, key }], dataDir: directory(), hostname: 'a.test', log });
  await t.throwsAsync(open(one.cert, other.key), { instanceOf: TlsFault, message: /is not the one of/ });
  await t.throwsAsync(open(one.key, one.key), { instanceOf: TlsFault, message: /MANSIO_TLS_CERT/ });
  await t.throwsAsync(open(one.cert, one.cert), { instanceOf: TlsFault, message: /MANSIO_TLS_KEY/ });
  await t.throwsAsync(open(one.cert, `${one.key}.gone`), { instanceOf: TlsFault, message: /cannot read/ });
});

test('of several pairs the first that ends says when', async (t) => {
  const pairs = [await operatorPair(directory()), await operatorPair(directory())];
  const tls = await opened(pairs);
  t.is(tls.certificates.pairs.length, 2);
  const ends = tls.certificates.pairs.map(({ cert }) => Date.parse(new X509Certificate(cert).validTo));
  t.is(tls.certificates.presented.expiresAt.getTime(), Math.min(...ends));
  const next = await operatorPair(directory());
  renameSync(next.cert, pairs[1]!.cert);
  renameSync(next.key, pairs[1]!.key);
  await tls.reload();
  t.is(tls.certificates.pairs[1]!.cert, readFileSync(pairs[1]!.cert, 'utf8'), 'each is read again');
  tls.stop();
});

test('nodes with one secret have one key of session tickets, for 12 hours', async (t) => {
  let now = 0;
  const files = [await operatorPair(directory())];
  const nodes = await Promise.all([1, 2].map(() => opened(files, { now: () => now })));
  const keys = () => nodes.map(({ certificates }) => certificates.ticketKey.toString('hex'));
  t.is(new Set(keys()).size, 2);
  for (const node of nodes) node.shareTickets('secret');
  const [first, ...others] = keys();
  t.deepEqual(others, [first]);
  now += 12 * 3_600_000 - 1;
  for (const node of nodes) await node.reload();
  t.deepEqual(keys(), [first, first]);
  now += 1;
  for (const node of nodes) await node.reload();
  t.is(new Set([first, ...keys()]).size, 2);
  nodes[0]!.shareTickets('another');
  t.is(new Set([first, ...keys()]).size, 3);
  for (const node of nodes) node.stop();
});
