// Tests ARC chains that mailauth has sealed, and their results after a change of the message or the chain.

import { spawnSync } from 'node:child_process';
import { sealMessage } from 'mailauth';
import test from '../../support/test.js';
import { RSA, startPeers } from './peers.js';

const MESSAGE = 'From: A <a@peer.test>\r\nTo: b@example.test\r\nSubject: hi\r\n\r\nhello\r\n';
const arc = (field: string) => /;\r\n\tarc=([^;\r]*)/.exec(field)?.[1];

async function sealed(message: string, cv: 'none' | 'pass', dmarc = 'pass'): Promise<string> {
  const seal = {
    ...{ signingDomain: 'peer.test', selector: 'rsa', privateKey: RSA.privateKey, cv },
    authResults: `mx.peer.test; dmarc=${dmarc} header.from=peer.test`,
    signTime: new Date(),
  };
  return (await sealMessage(Buffer.from(message), seal as never)).toString() + message;
}

test('a chain of one and of three', async (t) => {
  const { authenticate } = await startPeers(t);
  t.is(arc((await authenticate(MESSAGE)).field), undefined);
  let message = await sealed(MESSAGE, 'none');
  t.is(arc((await authenticate(message)).field), 'pass (i=1) header.d=peer.test');
  message = await sealed(await sealed(message, 'pass'), 'pass');
  t.is(arc((await authenticate(message)).field), 'pass (i=3) header.d=peer.test');
});

test('a chain that was broken', async (t) => {
  const { authenticate } = await startPeers(t);
  const good = await sealed(await sealed(MESSAGE, 'none'), 'pass');
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['hello', 'goodbye', /^fail \(newest message signature did not verify\)/],
    ['dmarc=pass', 'dmarc=none', /^fail \(a seal did not verify\)/],
    ['cv=none', 'cv=pass', /^fail \(malformed chain\)/],
    ['i=1', 'i=3', /^fail \(malformed chain\)/],
    ['ARC-Seal:', 'X-Seal:', /^fail \(malformed chain\)/],
    ['ARC-Seal: i=2', 'ARC-Seal: j=2', /^fail \(malformed field\)/],
  ];
  for (const [what, instead, expected] of cases) {
    const broken = good.replace(what, instead);
    t.not(broken, good);
    t.regex(arc((await authenticate(broken)).field)!, expected, instead);
  }
  const many = `ARC-Seal: i=1; a=rsa-sha256; cv=none; d=peer.test; s=rsa; b=b\r\n`.repeat(40);
  t.is(arc((await authenticate(many + MESSAGE)).field), 'fail (too many sets)');
});

test('a chain changes no verdict of DMARC', async (t) => {
  const { authenticate } = await startPeers(t);
  const { field, verdict } = await authenticate(await sealed(MESSAGE, 'none'), { sender: 'x@mx.test' });
  t.regex(arc(field)!, /^pass/);
  t.regex(field, /dmarc=fail/);
  t.is(verdict, 'junk');
});

test('a seal verifies, also when seconds begin while it is made', async (t) => {
  const key = { domain: 'peer.test', selector: 'rsa', algorithm: 'rsa', privateKey: RSA.privateKey };
  const seal = { domain: 'peer.test', results: 'mx.peer.test; dmarc=pass header.from=peer.test', chain: 'none' };
  const script = `
    import { createSealer } from ${JSON.stringify(new URL('../../../src/message-checks/mailauth/arc-seal.js', import.meta.url).href)};
    let now = Date.now();
    Date.now = () => (now += 1_000);
    const seal = createSealer({ keysOf: async () => [${JSON.stringify(key)}] });
    process.stdout.write(await seal(Buffer.from(${JSON.stringify(MESSAGE)}), ${JSON.stringify(seal)}));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  t.regex(stdout, /^ARC-Seal: /, stderr);
  const { authenticate } = await startPeers(t);
  t.regex(arc((await authenticate(stdout + MESSAGE)).field)!, /^pass /);
});
