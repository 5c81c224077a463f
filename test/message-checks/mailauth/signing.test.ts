// Tests signatures of outgoing mail, which mailauth verifies: whose keys are used, what is signed and what is not.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dkimVerify } from 'mailauth';
import pino from 'pino';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { dkimKey, dkimRecord } from '../../../src/mail-format/authentication/dkim-key.js';
import { createSigner } from '../../../src/message-checks/mailauth/signing.js';
import { StoreFault } from '../../../src/store/errors.js';
import test from '../../support/test.js';
import { ED25519, keyStore, peerKeys, RSA, silent } from './peers.js';

const MESSAGE = 'From: a@peer.test\r\nTo: b@x.test\r\nSubject: \r\nX-Other: y\r\n\r\n.dot \t first\r\n\r\n\r\n';

/** Resolves records as mailauth asks for them. */
function resolver(records: Readonly<Record<string, readonly string[]>>) {
  return (name: string) => {
    const found = records[name];
    if (found === undefined) return Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
    return Promise.resolve([[...found]]);
  };
}

const PUBLISHED = resolver({
  'rsa._domainkey.peer.test': dkimRecord(RSA),
  'ed._domainkey.peer.test': dkimRecord(ED25519),
  'default._domainkey.keyless.test': dkimRecord(RSA),
});

async function results(message: string): Promise<readonly string[]> {
  const { results: found } = await dkimVerify(message, { resolver: PUBLISHED } as never);
  return found.map(({ signingDomain, selector, status }) => `${status.result} ${signingDomain} ${selector}`);
}

const whole = (message: string) => () => [Buffer.from(message)];

test('both keys sign, and both signatures verify', async (t) => {
  const sign = createSigner({ keys: keyStore().store, log: silent });
  const fields = await sign('Peer.test', whole(MESSAGE), 'one');
  t.deepEqual(await results(fields + MESSAGE), ['pass peer.test rsa', 'pass peer.test ed']);
  t.true(fields.endsWith('\r\n'));
  for (const line of fields.split('\r\n')) t.true(line.length <= 998 && !/[^ -~]/.test(line.replace(/^\t/, '')), line);
  t.false(/\bl=/.test(fields));
  t.regex(fields, /\bt=\d{10};/);
  t.regex(fields, /a=rsa-sha256/);
  t.regex(fields, /a=ed25519-sha256/);
  // A field is signed once more than it occurs; fields that are not listed are not signed.
  const signed = /h=([^;]*);/.exec(fields)![1]!.toLowerCase().replace(/\s/g, '').split(':');
  t.is(signed.filter((name) => name === 'from').length, 2);
  t.is(signed.filter((name) => name === 'cc').length, 1);
  t.false(signed.includes('x-other'));
  t.false(signed.includes('sender'));
});

test('fields with white space before their colon are signed', async (t) => {
  const sign = createSigner({ keys: keyStore().store, log: silent });
  const obsolete = MESSAGE.replace('Subject:', 'Subject :').replace('From:', 'From\t:');
  const fields = await sign('peer.test', whole(obsolete), 'obsolete');
  t.deepEqual(await results(fields + obsolete), ['pass peer.test rsa', 'pass peer.test ed']);
  t.deepEqual(await results(fields + obsolete.replace('Subject : ', 'Subject : other')), [
    'fail peer.test rsa',
    'fail peer.test ed',
  ]);
});

test('a signature is folded, and whole', async (t) => {
  const sign = createSigner({ keys: keyStore().store, log: silent });
  const fields = await sign('peer.test', whole(MESSAGE), 'folded');
  for (const line of fields.split('\r\n')) t.true(line.length <= 76, line);
  const values = fields.match(/ b=[^;]*?(?=\r\n(?! ))/g)!.map((tag) => tag.replace(/^ b=|\r\n /g, ''));
  const octets = values.map((value) => Buffer.from(value, 'base64'));
  t.deepEqual(
    octets.map(({ length }) => length),
    [256, 64],
  );
  t.deepEqual(
    octets.map((each) => each.toString('base64')),
    values,
  );
});

test('a message in pieces of any size has the same body hash', async (t) => {
  const sign = createSigner({ keys: keyStore([peerKeys('peer.test')[1]!]).store, log: silent });
  const hashes = new Set<string>();
  for (const size of [1, 3, 7, MESSAGE.length]) {
    const pieces = MESSAGE.match(new RegExp(`[^]{1,${size}}`, 'g'))!.map((piece) => Buffer.from(piece));
    const fields = await sign(
      'peer.test',
      async function* () {
        yield* pieces;
      },
      `in pieces of ${size}`,
    );
    t.deepEqual(await results(fields + MESSAGE), ['pass peer.test rsa']);
    hashes.add(/bh=([^;]*)/.exec(fields)![1]!);
  }
  t.is(hashes.size, 1);
});

test('fields in UTF-8, folded fields, repeated fields and no body', async (t) => {
  const sign = createSigner({ keys: keyStore([peerKeys('peer.test')[1]!]).store, log: silent });
  const messages = [
    'From: a@peer.test\r\nSubject: a\r\n folded\r\n\t line\r\nTo: b@x.test\r\nTo: c@x.test\r\n\r\nx\r\n',
    'From: a@peer.test\r\nSubject: x\r\n\r\n',
    'From: a@peer.test\r\nReferences: <1@x>\r\n <2@x>\r\nList-Unsubscribe: <mailto:x@y.test>\r\n\r\n \r\n\r\n',
  ];
  for (const message of messages) {
    const fields = await sign('peer.test', whole(message), message);
    t.deepEqual(await results(fields + message), ['pass peer.test rsa'], message);
  }
});

test('a domain without keys: unsigned, or by the default key when it is hosted', async (t) => {
  const directory = temporaryDirectory();
  const file = join(directory, 'key.pem');
  writeFileSync(file, RSA.privateKey);
  const { store } = keyStore(peerKeys('peer.test'), ['keyless.test']);
  const none = createSigner({ keys: store, log: silent });
  const unread = () => {
    throw new Error('read for nothing');
  };
  t.is(await none('keyless.test', unread, 'one'), '');
  const sign = createSigner({ keys: store, fallback: { selector: 'default', key: file }, log: silent });
  t.is(await sign('elsewhere.test', unread, 'one'), '');
  const message = MESSAGE.replace('peer.test', 'keyless.test');
  t.deepEqual(await results((await sign('keyless.test', whole(message), 'one')) + message), [
    'pass keyless.test default',
  ]);
  t.deepEqual(await results((await sign('peer.test', whole(MESSAGE), 'one')) + MESSAGE), [
    'pass peer.test rsa',
    'pass peer.test ed',
  ]);
});

test('a default key that will do for nothing is told at the start', (t) => {
  const directory = temporaryDirectory();
  const key = join(directory, 'key.pem');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const { store } = keyStore();
  t.throws(() => createSigner({ keys: store, fallback: { selector: 's', key }, log: silent }), {
    message: /of type ec/,
  });
  writeFileSync(key, 'nothing');
  t.throws(() => createSigner({ keys: store, fallback: { selector: 's', key }, log: silent }), { message: /PEM/ });
});

test('keys are asked for once, also by many at a time', async (t) => {
  const { store, asked } = keyStore();
  const sign = createSigner({ keys: store, log: silent });
  await Promise.all(Array.from({ length: 20 }, () => sign('peer.test', whole(MESSAGE), 'one')));
  t.deepEqual(asked, ['peer.test']);
});

test('a store that fails is no reason to send without a signature', async (t) => {
  const { store } = keyStore();
  let fails = true;
  const keysOf = (domain: string) =>
    fails ? Promise.reject(new StoreFault('store-unavailable', 'gone', { temporary: true })) : store.keysOf(domain);
  const sign = createSigner({ keys: { ...store, keysOf }, log: silent });
  await t.throwsAsync(sign('peer.test', whole(MESSAGE), 'one'), { instanceOf: StoreFault });
  fails = false;
  t.regex(await sign('peer.test', whole(MESSAGE), 'one'), /^DKIM-Signature: /);
});

test('a key that cannot be used is left out, and logged without what is in it', async (t) => {
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(line) });
  const keys = [{ domain: 'peer.test', selector: 'bad', algorithm: 'rsa' as const, privateKey: 'secret' }];
  const sign = createSigner({ keys: keyStore([...keys, peerKeys('peer.test')[0]!]).store, log });
  t.deepEqual(await results((await sign('peer.test', whole(MESSAGE), 'one')) + MESSAGE), ['pass peer.test ed']);
  t.is(logged.length, 1);
  t.false(logged[0]!.includes('secret'));
});

test('keys that are taken, and records that are published', (t) => {
  const pkcs1 = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  t.is(dkimKey(pkcs1).algorithm, 'rsa');
  t.throws(() => dkimKey(generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey), { message: /512 bits/ });
  const record = dkimRecord(RSA);
  t.is(record.length, 2);
  t.true(record.every((text) => text.length <= 255));
  t.regex(record.join(''), /^v=DKIM1; k=rsa; p=[A-Za-z0-9+/=]{392}$/);
  t.regex(dkimRecord(ED25519).join(''), /^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/);
});

test('a message is signed once for the domains that it goes to, and again when that failed', async (t) => {
  const sign = createSigner({ keys: keyStore([peerKeys('peer.test')[1]!]).store, log: silent });
  let opened = 0;
  let fault: Error | undefined = new StoreFault('store-unavailable', 'no database', { temporary: true });
  const open = () => {
    opened++;
    if (fault !== undefined) throw fault;
    return [Buffer.from(MESSAGE)];
  };
  await t.throwsAsync(sign('peer.test', open, 'one'), { instanceOf: StoreFault });
  fault = undefined;
  const fields = await Promise.all(Array.from({ length: 5 }, () => sign('peer.test', open, 'one')));
  t.is(opened, 2);
  t.is(new Set(fields).size, 1);
  t.deepEqual(await results(fields[0]! + MESSAGE), ['pass peer.test rsa']);
  await sign('peer.test', open, 'another');
  t.is(opened, 3);
});

test('a message that was signed is signed again once the keys are others, and not at all once they are gone', async (t) => {
  const [ed, rsa] = peerKeys('peer.test');
  const keys = [rsa!];
  const sign = createSigner({ keys: keyStore(keys).store, log: silent });
  // The signer caches the keys of a thousand domains.
  const forgetKeys = async () => {
    for (let i = 0; i < 1000; i++) await sign(`${i}.test`, whole(MESSAGE), 'one');
  };
  t.deepEqual(await results((await sign('peer.test', whole(MESSAGE), 'one')) + MESSAGE), ['pass peer.test rsa']);
  keys.splice(0, 1, ed!);
  await forgetKeys();
  t.deepEqual(await results((await sign('peer.test', whole(MESSAGE), 'one')) + MESSAGE), ['pass peer.test ed']);
  keys.pop();
  await forgetKeys();
  t.is(await sign('peer.test', whole(MESSAGE), 'one'), '');
});
