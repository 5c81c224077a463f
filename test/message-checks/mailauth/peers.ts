// Runs senders with keys and records in their own DNS server, and returns the authenticator's results for their mail.
import { generateKeyPairSync } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { type DnsServer, startDnsServer, type Zone } from '../../../dev/servers/dns-server.js';
import type { Authenticated, Origin } from '../../../src/mail-format/authentication/authentication.js';
import { type DkimKey, dkimKey, dkimRecord } from '../../../src/mail-format/authentication/dkim-key.js';
import { HeaderCollector } from '../../../src/mail-format/header/header-collector.js';
import { CheckChain, type Judgement } from '../../../src/message-checks/check-chain.js';
import { type DmarcSetting, dmarcCheck } from '../../../src/message-checks/dmarc-check.js';
import { type AuthenticatorOptions, createAuthenticator } from '../../../src/message-checks/mailauth/authenticator.js';
import { createSigner } from '../../../src/message-checks/mailauth/signing.js';
import type { SigningKey, SigningKeyStore } from '../../../src/store/signing-keys.js';
import { patientDns } from '../../support/peers/patient-dns.js';

export const HOST = 'mx.example.test';
export const PEER_ADDRESS = '192.0.2.1';

export const RSA = dkimKey(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
export const ED25519 = dkimKey(generateKeyPairSync('ed25519').privateKey);
const WEAK = generateKeyPairSync('rsa', { modulusLength: 512 });

export const silent = pino({ level: 'silent' });

/** For the look-ups of a message: none is late, however busy the machine is. */
export const PATIENCE_MS = 60_000;

export function keyRecord(key: DkimKey): Zone {
  return { TXT: [dkimRecord(key).join('')] };
}

export function weakRecord(): Zone {
  const der = WEAK.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  return { TXT: [`v=DKIM1; k=rsa; p=${der}`] };
}

/** `peer.test` sends from PEER_ADDRESS and signs with keys `rsa` and `ed`; the other names say what they have. */
export function zones(): Record<string, Zone> {
  const none = 'v=DMARC1; p=none';
  return {
    'peer.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all', 'other=text'] },
    'rsa._domainkey.peer.test': keyRecord(RSA),
    'ed._domainkey.peer.test': keyRecord(ED25519),
    'weak._domainkey.peer.test': weakRecord(),
    'revoked._domainkey.peer.test': { TXT: ['v=DKIM1; p='] },
    'broken._domainkey.peer.test': { TXT: ['v=DKIM1; p=!!!'] },
    'other._domainkey.peer.test': { TXT: [`${dkimRecord(RSA).join('')}; s=tlsrpt`] },
    'failing._domainkey.peer.test': { rcode: 'SERVFAIL' },
    '_dmarc.peer.test': { TXT: ['v=DMARC1; p=reject'] },
    'sub.peer.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
    'soft.test': { TXT: ['v=spf1 ~all'] },
    'neutral.test': { TXT: ['v=spf1 ?all'] },
    'failing.test': { rcode: 'SERVFAIL' },
    'includes-failing.test': { TXT: ['v=spf1 include:failing.test -all'] },
    'silent.test': { silent: true },
    '_dmarc.silent.test': { TXT: ['v=DMARC1; p=reject'] },
    'loop.test': { TXT: ['v=spf1 include:loop.test -all'] },
    'many.test': { TXT: [`v=spf1 ${Array.from({ length: 12 }, (_, i) => `a:a${i}.many.test`).join(' ')} -all`] },
    ...Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`a${i}.many.test`, { A: ['203.0.113.9'] }])),
    'void.test': { TXT: ['v=spf1 a:x1.void.test a:x2.void.test a:x3.void.test a:x4.void.test -all'] },
    'twice.test': { TXT: ['v=spf1 -all', 'v=spf1 +all'] },
    'macros.test': { TXT: [`v=spf1 redirect=${'%{s}'.repeat(60)}_ -all`] },
    ...Object.fromEntries(
      Array.from({ length: 9 }, (_, i) => [
        `mx${i}.burn.test`,
        { MX: Array.from({ length: 9 }, (_, j) => [j, `h${j}.mx${i}.burn.test`] as const) },
      ]),
    ),
    ...Object.fromEntries(
      Array.from({ length: 81 }, (_, i) => [`h${i % 9}.mx${Math.floor(i / 9)}.burn.test`, { A: ['203.0.113.9'] }]),
    ),
    'burn.test': { TXT: [`v=spf1 ${Array.from({ length: 9 }, (_, i) => `mx:mx${i}.burn.test`).join(' ')} -all`] },
    'mx.test': { TXT: ['v=spf1 mx -all'], MX: [[10, 'host.mx.test']] },
    'host.mx.test': { A: ['192.0.2.1'] },
    'reverse.test': { TXT: ['v=spf1 ptr -all'] },
    '1.2.0.192.in-addr.arpa': { PTR: ['host.reverse.test'] },
    'host.reverse.test': { A: ['192.0.2.1'] },
    'xn--bcher-kva.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
    '_dmarc.quarantine.test': { TXT: ['v=DMARC1; p=quarantine'] },
    '_dmarc.reject.test': { TXT: ['v=DMARC1; p=Reject ; sp=none'] },
    '_dmarc.strict.test': { TXT: ['v=DMARC1; p=reject; aspf=s; adkim=s'] },
    'sub.strict.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
    'strict.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
    '_dmarc.none.test': { TXT: [none] },
    '_dmarc.failing.test': { rcode: 'SERVFAIL' },
  };
}

export interface FailureDetector {
  readonly dns: DnsServer;
  /** Authenticates a message, with CRLF for each `\n`, and judges it by DMARC. */
  authenticate(
    message: string | Buffer,
    origin?: Partial<Origin>,
    options?: Partial<AuthenticatorOptions> & { readonly dmarcReject?: DmarcSetting },
    /** It runs between the header and the rest. */
    meanwhile?: () => Promise<void>,
  ): Promise<Authenticated & Pick<Judgement, 'verdict'>>;
}

/** `more` are records besides those of `zones`. */
export async function startPeers(
  t: ExecutionContext,
  more: Readonly<Record<string, Zone>> = {},
): Promise<FailureDetector> {
  const dns = await startDnsServer({ ...zones(), ...more });
  const ended = new AbortController();
  t.teardown(() => {
    ended.abort();
    return dns.close();
  });
  const resolver = patientDns(dns, { signal: ended.signal });
  return {
    dns,
    async authenticate(message, origin = {}, { dmarcReject = 'tag', ...options } = {}, meanwhile = undefined) {
      const authenticate = createAuthenticator({
        ...{ dns: resolver, hostname: HOST, rejectsAnonymous: dmarcReject === 'reject', log: silent },
        deadlineMs: PATIENCE_MS,
        ...options,
      });
      const bytes = typeof message === 'string' ? Buffer.from(message.replace(/\r?\n/g, '\r\n')) : message;
      const from = { remoteAddress: PEER_ADDRESS, helo: 'peer.test', sender: '', ...origin };
      const authenticated = await check(authenticate, bytes, from, meanwhile);
      const checks = new CheckChain([dmarcCheck(dmarcReject)], silent);
      const envelope = { id: 'T1', sender: from.sender, recipients: [] };
      const peer = { ...from, accountId: undefined, user: undefined };
      const { verdict } = await checks.judge({ authenticated, chunks: () => [bytes] }, envelope, peer);
      return { ...authenticated, verdict };
    },
  };
}

/** Feeds the message in pieces, as a socket does. */
async function check(
  authenticate: ReturnType<typeof createAuthenticator>,
  bytes: Buffer,
  origin: Origin,
  meanwhile: (() => Promise<void>) | undefined,
): Promise<Authenticated> {
  const collector = new HeaderCollector();
  let checks: ReturnType<typeof authenticate> | undefined;
  for (let at = 0; at < bytes.length; at += 1000) {
    const piece = bytes.subarray(at, at + 1000);
    const body = checks === undefined ? collector.push(piece) : piece;
    if (body === undefined) continue;
    if (checks === undefined) {
      checks = authenticate(origin, collector.header());
      await meanwhile?.();
    }
    checks.write(body);
  }
  return (checks ?? authenticate(origin, collector.header())).finish();
}

/** Holds keys of `peer.test`: RSA and Ed25519 unless others are given. */
export function keyStore(keys: readonly SigningKey[] = peerKeys('peer.test'), hosted: readonly string[] = []) {
  const asked: string[] = [];
  const store: SigningKeyStore = {
    keysOf(domain) {
      asked.push(domain);
      return Promise.resolve(keys.filter((key) => key.domain === domain));
    },
    isHosted: (domain) => Promise.resolve(hosted.includes(domain)),
    domainsWithoutKey: () => Promise.resolve([]),
    all: () => Promise.resolve(keys),
    add: () => Promise.resolve(false),
  };
  return { store, asked };
}

export function peerKeys(domain: string): SigningKey[] {
  return [
    { domain, selector: 'ed', ...ED25519 },
    { domain, selector: 'rsa', ...RSA },
  ];
}

/** Returns the message after signatures of `peer.test`. */
export async function signed(message: string, domain = 'peer.test', keys?: readonly SigningKey[]): Promise<string> {
  const bytes = message.replace(/\r?\n/g, '\r\n');
  const sign = createSigner({ keys: keyStore(keys).store, log: silent });
  const fields = await sign(domain, () => [Buffer.from(bytes)], message);
  return fields + bytes;
}
