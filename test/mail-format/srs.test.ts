// Tests addresses of the Sender Rewriting Scheme; where it is installed, postsrsd makes and reads them too.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { parseAddress } from '../../src/mail-format/address.js';
import { isRewritten, SenderRewriting } from '../../src/mail-format/srs.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 10, 29);
const SECRET = 'a secret of the store';
const rewriting = new SenderRewriting(SECRET);

const localParts = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9=+_-]{1,20}(\.[A-Za-z0-9=+_-]{1,10})?$/),
  fc.constantFrom('"a b"', '"quo\\"ted"', 'ünï', 'SRS0', "o'hara", 'x=y=z'),
);
const domains = fc.stringMatching(/^[a-z0-9]{1,20}\.(test|example)$/);

test('an address comes back as it was, through any number of hosts', (t) => {
  fc.assert(
    fc.property(localParts, domains, fc.array(domains, { minLength: 1, maxLength: 4 }), (localPart, domain, hops) => {
      const sender = `${localPart}@${domain}`;
      let address = sender;
      for (const [i, hop] of hops.entries()) address = new SenderRewriting(`secret ${i}`).rewrite(address, hop, NOW)!;
      t.true(isRewritten(address));
      t.not(parseAddress(address), undefined, address);
      // A bounce goes from the last host to the first one, and from there to the sender.
      const last = hops.length - 1;
      let back = new SenderRewriting(`secret ${last}`).reverse(address, NOW)!;
      if (last > 0) back = new SenderRewriting('secret 0').reverse(back, NOW)!;
      t.is(back, sender);
    }),
    { numRuns: runs(300) },
  );
});

test('a forged, damaged or expired address leads nowhere', (t) => {
  const address = rewriting.rewrite('ann@far.example', 'fwd.test', NOW)!;
  t.is(rewriting.reverse(address, NOW + 21 * DAY), 'ann@far.example');
  t.is(rewriting.reverse(address.toLowerCase(), NOW), 'ann@far.example', 'hosts may change the case');
  t.is(rewriting.reverse(address, NOW + 22 * DAY), undefined);
  t.is(rewriting.reverse(address, NOW - 2 * DAY), undefined, 'from the future');
  t.is(new SenderRewriting('another').reverse(address, NOW), undefined);
  for (const [part, other] of [
    ['ann', 'bob'],
    ['far', 'near'],
    ['SRS0=', 'SRS0=x'],
  ] as const)
    t.is(rewriting.reverse(address.replace(part, other), NOW), undefined, part);
  for (const text of ['SRS0=@fwd.test', 'SRS0=a=b@fwd.test', 'SRS1=x=y@fwd.test', 'SRS0====x@fwd.test', 'ann@fwd.test'])
    t.is(rewriting.reverse(text, NOW), undefined, text);
  const hash = /=([^=]+)=/.exec(address)![1]!;
  t.is(rewriting.reverse(address.replace(hash, hash.slice(0, 4)), NOW), undefined, 'a part of the hash');
});

test('an address that would be too long is not rewritten', (t) => {
  t.is(
    rewriting.rewrite(`${'x'.repeat(60)}@${'d'.repeat(60)}.${'e'.repeat(60)}.test`, `${'f'.repeat(60)}.test`, NOW),
    undefined,
  );
  t.is(rewriting.rewrite('', 'fwd.test', NOW), undefined);
});

const isInstalled = (() => {
  try {
    execFileSync('sh', ['-c', 'command -v postsrsd || test -x /usr/sbin/postsrsd']);
    return true;
  } catch {
    return false;
  }
})();

(isInstalled ? test : test.skip)('postsrsd reads what is written, and writes what is read', async (t) => {
  const directory = temporaryDirectory('mansio-test-srs-');
  writeFileSync(join(directory, 'secret'), `${SECRET}\n`);
  const [forward, reverse] = [await freePort(), await freePort()];
  const args = ['-s', join(directory, 'secret'), '-dfwd.test', `-f${forward}`, `-r${reverse}`, '-4', '-n8', '-N8'];
  const daemon = spawn('/usr/sbin/postsrsd', args, { stdio: 'ignore' });
  t.teardown(async () => {
    daemon.kill();
    if (daemon.exitCode === null) await once(daemon, 'exit');
  });
  const own = rewriting.rewrite('ann@far.example', 'fwd.test', Date.now())!;
  t.is(await asked(reverse, own), 'ann@far.example');
  const theirs = await asked(forward, 'bob@far.example');
  t.is(rewriting.reverse(theirs, Date.now()), 'bob@far.example');
  const twice = rewriting.rewrite('SRS0=abcd=JR=first.example=ann@second.example', 'fwd.test', Date.now())!;
  t.is(await asked(forward, 'SRS0=abcd=JR=first.example=ann@second.example'), twice);
  t.is(await asked(reverse, twice), 'SRS0=abcd=JR=first.example=ann@second.example');
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Asks one of postsrsd's tables, as Postfix does. */
async function asked(port: number, address: string): Promise<string> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
    } catch {
      // It has not opened the port yet.
      continue;
    }
    socket.write(`get ${address}\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString().trim().replace(/^200 /, '');
  }
}
