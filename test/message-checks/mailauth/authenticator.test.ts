// Tests the authentication of received mail, with keys and records in a real DNS server.

import { dkimSign } from 'mailauth';
import { DnsFailure } from '../../../src/net/dns/resolver.js';
import test from '../../support/test.js';
import { HOST, peerKeys, RSA, signed, startPeers } from './peers.js';

const MESSAGE = 'From: A <a@peer.test>\nTo: b@example.test\nSubject: hi\nMessage-ID: <1@peer.test>\n\nhello  you\n\n\n';
const from = (address: string, more = '') => `From: ${address}\nSubject: x\n${more}\nbody\n`;
/** Returns the values of one method, like `pass smtp.mailfrom=…`. */
const said = (field: string, method: string) =>
  [...field.matchAll(new RegExp(`;\\r\\n\\t${method}=([^;\\r]*)`, 'g'))].map((match) => match[1]!);

test('SPF: every result', async (t) => {
  const { authenticate } = await startPeers(t);
  const cases: readonly (readonly [sender: string, helo: string, remoteAddress: string, expected: string])[] = [
    ['a@peer.test', 'x', '192.0.2.1', 'pass smtp.mailfrom=a@peer.test'],
    ['a@peer.test', 'x', '::ffff:192.0.2.1', 'pass smtp.mailfrom=a@peer.test'],
    ['a@peer.test', 'x', '192.0.2.2', 'fail smtp.mailfrom=a@peer.test'],
    ['a@peer.test', 'x', '2001:db8::1', 'fail smtp.mailfrom=a@peer.test'],
    ['a@soft.test', 'x', '192.0.2.1', 'softfail smtp.mailfrom=a@soft.test'],
    ['a@neutral.test', 'x', '192.0.2.1', 'neutral smtp.mailfrom=a@neutral.test'],
    ['a@nowhere.test', 'x', '192.0.2.1', 'none smtp.mailfrom=a@nowhere.test'],
    ['a@failing.test', 'x', '192.0.2.1', 'temperror smtp.mailfrom=a@failing.test'],
    ['a@includes-failing.test', 'x', '192.0.2.1', 'temperror smtp.mailfrom=a@includes-failing.test'],
    ['a@loop.test', 'x', '192.0.2.1', 'permerror smtp.mailfrom=a@loop.test'],
    ['a@many.test', 'x', '192.0.2.1', 'permerror smtp.mailfrom=a@many.test'],
    ['a@void.test', 'x', '192.0.2.1', 'permerror smtp.mailfrom=a@void.test'],
    ['a@twice.test', 'x', '192.0.2.1', 'permerror smtp.mailfrom=a@twice.test'],
    ['a@mx.test', 'x', '192.0.2.1', 'pass smtp.mailfrom=a@mx.test'],
    ['a@reverse.test', 'x', '192.0.2.1', 'pass smtp.mailfrom=a@reverse.test'],
    ['a@bücher.test', 'x', '192.0.2.1', 'pass smtp.mailfrom=a@xn--bcher-kva.test'],
    // With the null sender, the HELO name counts (RFC 7208 §2.4).
    ['', 'peer.test', '192.0.2.1', 'pass smtp.helo=peer.test'],
    ['', 'peer.test', '192.0.2.2', 'fail smtp.helo=peer.test'],
    ['', '[192.0.2.1]', '192.0.2.1', 'none smtp.helo="[192.0.2.1]"'],
    ['', 'x"; dmarc=pass', '192.0.2.1', 'none smtp.helo="x\\"'],
  ];
  for (const [sender, helo, remoteAddress, expected] of cases) {
    const { field } = await authenticate(from('a@nowhere.test'), { sender, helo, remoteAddress });
    t.is(said(field, 'spf')[0], expected, `${sender} ${helo}`);
  }
});

test('SPF: records made to burn time are refused before they are expanded', async (t) => {
  const { authenticate } = await startPeers(t);
  const sender = `${'a'.repeat(60)}@macros.test`;
  const { field } = await authenticate(from('a@nowhere.test'), { sender });
  t.is(said(field, 'spf')[0], `permerror smtp.mailfrom=${sender}`);
});

test('SPF: the look-ups of one evaluation are bounded, and the answer is remembered', async (t) => {
  const { authenticate, dns } = await startPeers(t);
  await authenticate(from('a@nowhere.test'), { sender: 'a@many.test' });
  t.true(dns.asked.filter((question) => question.includes('many.test')).length <= 11);
  const before = dns.asked.length;
  await authenticate(from('a@nowhere.test'), { sender: 'a@many.test' });
  t.is(dns.asked.length, before);
});

test('DKIM: our signatures and those of mailauth verify, relaxed and simple', async (t) => {
  const { authenticate } = await startPeers(t);
  const { field, verdict, summary } = await authenticate(await signed(MESSAGE), { sender: 'a@elsewhere.test' });
  const results = said(field, 'dkim');
  t.is(results.length, 2);
  t.regex(results[0]!, /^pass header\.d=peer\.test header\.s=rsa header\.a=rsa-sha256 header\.b=\S{8,10}$/);
  t.regex(results[1]!, /^pass header\.d=peer\.test header\.s=ed header\.a=ed25519-sha256 header\.b=\S{8,10}$/);
  t.is(said(field, 'dmarc')[0], 'pass (p=reject) header.from=peer.test');
  t.is(verdict, 'accept');
  t.deepEqual(summary, { spf: 'none', dkim: 'pass', dmarc: 'pass' });
  const text = MESSAGE.replaceAll('\n', '\r\n');
  for (const canonicalization of ['simple/simple', 'relaxed/simple', 'simple/relaxed', 'relaxed/relaxed']) {
    const signatureData = [{ signingDomain: 'peer.test', selector: 'rsa', privateKey: RSA.privateKey }];
    const { signatures } = await dkimSign(text, { canonicalization, signatureData, signTime: new Date() } as never);
    const theirs = await authenticate(Buffer.from(signatures + text));
    t.regex(said(theirs.field, 'dkim')[0]!, /^pass /, canonicalization);
  }
});

test('DKIM: what was changed fails, and octets of UTF-8 are no white space', async (t) => {
  const { authenticate } = await startPeers(t);
  const good = await signed('From: a@peer.test\nSubject: là là  voilà \nComments: x\n\nà la à\n');
  const result = async (message: string) => said((await authenticate(message)).field, 'dkim')[0]!;
  t.regex(await result(good), /^pass /);
  t.regex(await result(good.replace('là là  voilà', 'là  là voilà')), /^pass /);
  t.regex(await result(good.replace('là là', 'l\u00c3 là')), /^fail \(signature did not verify\)/);
  t.regex(await result(good.replace('\r\n\r\nà la', '\r\n\r\nà  la')), /^pass /);
  t.regex(await result(good.replace('à la à', 'à la')), /^fail \(body hash did not verify\)/);
  t.regex(await result(`${good}more\n`), /^fail \(body hash did not verify\)/);
  t.regex(await result(good.replace('Comments: x', 'Comments: y')), /^pass /);
  // The signature covers each field as often as it occurs and once more, so that none can be added.
  t.regex(await result(good.replace('Comments: x', 'Subject: two')), /^fail /);
  t.regex(await result(good.replace('Comments: x', 'Reply-To: evil@evil.test')), /^fail /);
});

test('DKIM: keys that are none', async (t) => {
  const { authenticate } = await startPeers(t);
  const cases = {
    missing: 'permerror (no key)',
    weak: 'policy (weak key)',
    revoked: 'permerror (invalid key)',
    broken: 'permerror (invalid key)',
    other: 'permerror (key not for this use)',
    failing: 'temperror (no answer for the key)',
    ed: 'permerror (key not for this use)',
  };
  for (const [selector, expected] of Object.entries(cases)) {
    const message = await signed(MESSAGE, 'peer.test', [{ domain: 'peer.test', selector, ...RSA }]);
    const { field } = await authenticate(message);
    t.true(said(field, 'dkim')[0]!.startsWith(`${expected} header.d=peer.test`), said(field, 'dkim')[0]);
  }
});

test('DKIM: signatures that break the rules', async (t) => {
  const { authenticate } = await startPeers(t);
  const good = (await signed(MESSAGE, 'peer.test', [peerKeys('peer.test')[1]!])).split('\r\n');
  const at = good.findIndex((line) => /^From:/.test(line));
  const field = good.slice(0, at).join('').replaceAll(/\s+/g, ' ');
  const rest = good.slice(at).join('\r\n');
  const cases: readonly (readonly [RegExp | string, string, string])[] = [
    ['v=1', 'v=2', 'permerror (unknown version)'],
    ['a=rsa-sha256', 'a=rsa-sha1', 'policy (rsa-sha1 is not accepted)'],
    ['a=rsa-sha256', 'a=rsa-md5', 'permerror (unknown algorithm)'],
    ['c=relaxed/relaxed', 'c=strict', 'permerror (unknown canonicalization)'],
    [/From: From:/, '', 'permerror (From field not signed)'],
    ['q=dns/txt', 'q=other', 'permerror (unknown query method)'],
    ['v=1;', 'v=1; i=@evil.test;', 'permerror (identity outside of the domain)'],
    ['v=1;', 'v=1; d=evil.test;', 'permerror (not a tag list)'],
    ['v=1;', 'v=1;;', 'permerror (not a tag list)'],
    [/t=\d+/, 't=9; x=8', 'permerror (expires before it was made)'],
    [/t=\d+/, 't=x', 'permerror (not a time)'],
    ['d=peer.test', 'd=a"b; c', 'permerror'],
    ['d=peer.test', 'd=peer', 'permerror (no domain and selector)'],
    ['s=rsa', 's=r(a)', 'permerror (no domain and selector)'],
    [/ b=.*/, ' b=', 'permerror (signature missing)'],
    ['v=1;', `v=1; z=${'x'.repeat(9000)};`, 'permerror (signature too long)'],
    ['v=1;', `v=1; z=${';'.repeat(300)}`, 'permerror (signature too long)'],
  ];
  t.regex(said((await authenticate(`${field}\r\n${rest}`)).field, 'dkim')[0]!, /^pass/);
  for (const [what, instead, expected] of cases) {
    const changed = field.replace(what, instead);
    t.not(changed, field);
    const { field: told } = await authenticate(`${changed}\r\n${rest}`);
    t.true(said(told, 'dkim')[0]!.startsWith(expected), `${instead}: ${told}`);
  }
});

test('DKIM: nothing can be added under a signature of a part', async (t) => {
  const { authenticate } = await startPeers(t);
  const text = MESSAGE.replaceAll('\n', '\r\n');
  const sign = async (maxBodyLength: number) => {
    const signatureData = [{ signingDomain: 'peer.test', selector: 'rsa', privateKey: RSA.privateKey, maxBodyLength }];
    const { signatures } = await dkimSign(text, { signatureData, signTime: new Date() } as never);
    t.regex(signatures, /l=\d/);
    return Buffer.from(signatures + text);
  };
  t.regex(said((await authenticate(await sign(5))).field, 'dkim')[0]!, /^fail /);
  t.regex(said((await authenticate(await sign(5000))).field, 'dkim')[0]!, /^pass /);
});

test('DMARC: alignment', async (t) => {
  const { authenticate } = await startPeers(t);
  const dmarc = async (author: string, sender: string) => {
    const { field, verdict } = await authenticate(from(author), { sender });
    return `${said(field, 'dmarc').join('; ')}: ${verdict}`;
  };
  t.is(await dmarc('a@peer.test', 'b@peer.test'), 'pass (p=reject) header.from=peer.test: accept');
  t.is(await dmarc('a@peer.test', 'b@sub.peer.test'), 'pass (p=reject) header.from=peer.test: accept');
  t.is(await dmarc('a@sub.peer.test', 'b@peer.test'), 'pass (p=reject) header.from=sub.peer.test: accept');
  t.is(await dmarc('a@peer.test', 'b@mx.test'), 'fail (p=reject) header.from=peer.test: junk');
  t.is(await dmarc('a@strict.test', 'b@strict.test'), 'pass (p=reject) header.from=strict.test: accept');
  t.is(await dmarc('a@strict.test', 'b@sub.strict.test'), 'fail (p=reject) header.from=strict.test: junk');
  t.is(await dmarc('a@quarantine.test', 'b@mx.test'), 'fail (p=quarantine) header.from=quarantine.test: junk');
  t.is(await dmarc('a@none.test', 'b@mx.test'), 'fail (p=none) header.from=none.test: accept');
  t.is(await dmarc('a@sub.reject.test', 'b@mx.test'), 'fail (p=none) header.from=sub.reject.test: accept');
  t.is(await dmarc('a@nowhere.test', 'b@mx.test'), 'none header.from=nowhere.test: accept');
});

test('DMARC: what DNS does not tell is no failure', async (t) => {
  const { authenticate } = await startPeers(t);
  const dmarc = async (author: string, sender: string, more: { readonly deadlineMs?: number } = {}) => {
    const { field, verdict } = await authenticate(from(author), { sender }, more);
    return `${said(field, 'dmarc').join('; ')}: ${verdict}`;
  };
  t.is(await dmarc('a@failing.test', 'b@mx.test'), 'temperror header.from=failing.test: accept');
  // The policy is answered within this time on a busy machine too; the record of the sender never is.
  t.is(
    await dmarc('a@silent.test', 'b@silent.test', { deadlineMs: 5000 }),
    'temperror (p=reject) header.from=silent.test: accept',
  );
  // A sender cannot cause this result by names of its own.
  t.is(await dmarc('a@peer.test', 'b@failing.test'), 'fail (p=reject) header.from=peer.test: junk');
});

test('DMARC: a peer cannot make its own failure look like one of DNS', async (t) => {
  const { authenticate, dns } = await startPeers(t);
  const bogus = (selector: string) =>
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=peer.test; s=${selector}; h=from; ` +
    `bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=aaaa\n`;
  const message = `${bogus('nothere')}${bogus('rsa')}From: a@peer.test\n\n\n`;
  const dmarc = async (sender: string, more: Parameters<typeof authenticate>[2] = {}, late?: () => Promise<void>) => {
    const { field, verdict } = await authenticate(message, { sender }, more, late);
    return `${said(field, 'dmarc').join('; ')}: ${verdict}`;
  };
  const expected = 'fail (p=reject) header.from=peer.test: junk';
  // The peer's own record uses up all look-ups.
  t.is(await dmarc('b@burn.test'), expected);
  t.true(dns.asked.filter((question) => question.includes('burn.test')).length <= 60);
  // The body arrives after the time for look-ups, which a busy machine needs for their answers.
  const late = () => new Promise<void>((resolve) => setTimeout(resolve, 5200));
  t.is(await dmarc('b@mx.test', { deadlineMs: 5000 }, late), expected);
});

test('two hundred signatures: few are verified, those of the author first', async (t) => {
  const { authenticate, dns } = await startPeers(t);
  const junk = Array.from(
    { length: 70 },
    (_, i) => `DKIM-Signature: v=1; a=rsa-sha256; d=d${i}.test; s=s; h=from; bh=aaaa; b=bbbb\r\n`,
  ).join('');
  const message = (junk + (await signed(MESSAGE))).replace('\r\nSubject:', `\r\n${junk}${junk}Subject:`);
  const { field } = await authenticate(message, { sender: 'a@elsewhere.test' });
  t.is(said(field, 'dkim').length, 8);
  t.regex(said(field, 'dkim')[0]!, /^pass header\.d=peer\.test/);
  t.is(said(field, 'dmarc')[0], 'pass (p=reject) header.from=peer.test');
  t.is(dns.asked.filter((question) => question.includes('._domainkey.d')).length, 6);
});

test('headers made to burn time or to reach into the process', async (t) => {
  const { authenticate } = await startPeers(t);
  const hostile = [
    `DKIM-Signature: v=1; ${'h='.repeat(100_000)}\n`,
    `DKIM-Signature: ${';'.repeat(200_000)}\n`,
    `X: y\n${' z\n'.repeat(100_000)}`,
    'A: b\n'.repeat(60_000),
    `Authentication-Results: ${'('.repeat(200_000)}\n`,
    'ARC-Authentication-Results: i=1; x; dkim=pass __proto__.polluted=1 constructor.prototype.polluted=1\n' +
      'ARC-Message-Signature: i=1; a=rsa-sha256; d=peer.test; s=rsa; h=from; bh=a; b=b; __proto__.polluted=1\n' +
      'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=peer.test; s=rsa; b=b\n',
    'DKIM-Signature: __proto__=1; v=1; constructor=1; toString=2\n',
  ];
  for (const header of hostile) {
    const { field } = await authenticate(`From: a@nowhere.test\n${header}\nbody\n`);
    t.regex(field, /^Authentication-Results: mx\.example\.test;\r\n\tspf=/);
  }
  t.is(({} as { polluted?: unknown }).polluted, undefined);
  t.is(typeof Object.prototype.toString, 'function');
});

test('the deadline holds for all look-ups together', async (t) => {
  const { authenticate } = await startPeers(t);
  const never = { resolve: () => new Promise<never>(() => undefined) };
  const { field, verdict } = await authenticate(
    await signed(MESSAGE),
    { sender: 'a@peer.test' },
    { dns: never, deadlineMs: 20 },
  );
  t.is(said(field, 'spf')[0], 'temperror smtp.mailfrom=a@peer.test');
  t.regex(said(field, 'dkim')[0]!, /^temperror \(no answer for the key\)/);
  t.is(said(field, 'dmarc')[0], 'temperror header.from=peer.test');
  t.is(verdict, 'accept');
});

test('when every look-up fails at once, nothing waits and nothing is refused', async (t) => {
  const { authenticate } = await startPeers(t);
  const dns = { resolve: (name: string, type: string) => Promise.reject(new DnsFailure('ETIMEOUT', name, type)) };
  const { field, verdict } = await authenticate(MESSAGE, { sender: 'a@peer.test' }, { dns, dmarcReject: 'reject' });
  t.is(field.split(';')[0], `Authentication-Results: ${HOST}`);
  t.is(said(field, 'dmarc')[0], 'temperror header.from=peer.test');
  t.is(verdict, 'accept');
});
