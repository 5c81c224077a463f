// Makes the self-signed certificate of a node that was given none: EC P-256, for its own name and loopback, good for a
// start and for tests. Kept in the data directory, so that clients which trusted it once know it again; a new one is
// made shortly before it ends.
import { createPrivateKey, webcrypto, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { writePrivate } from '../store/data-directory.js';

const DAY_MS = 86_400_000;
// Longer ones are refused by Apple's clients: support.apple.com/103769.
const VALID_DAYS = 825;
const RENEW_DAYS = 30;

/** The files of the pair, made when missing or about to end. */
export async function selfSigned(
  dataDir: string,
  hostname: string,
  log: Logger,
): Promise<{ readonly cert: string; readonly key: string }> {
  const files = { cert: join(dataDir, 'tls-cert.pem'), key: join(dataDir, 'tls-key.pem') };
  if (!lasts(files)) {
    const pair = await generate(hostname, Date.now());
    // The key first: a certificate without its key would count as made.
    writePrivate(files.key, pair.key);
    writePrivate(files.cert, pair.cert);
    log.info({ cert: files.cert, hostname }, 'made a self-signed certificate');
  }
  return files;
}

function lasts({ cert, key }: { readonly cert: string; readonly key: string }): boolean {
  try {
    const certificate = new X509Certificate(readFileSync(cert));
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(key)))) return false;
    return new Date(certificate.validTo).getTime() - Date.now() > RENEW_DAYS * DAY_MS;
  } catch {
    return false;
  }
}

async function generate(hostname: string, now: number): Promise<{ cert: string; key: string }> {
  // Loaded here: most starts find a certificate.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const names = [...new Set([hostname, 'localhost'])].map((value) => ({ type: 'dns' as const, value }));
  const addresses = ['127.0.0.1', '::1'].map((value) => ({ type: 'ip' as const, value }));
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    // RFC 5280 appendix A.1: a common name has at most 64 characters.
    name: [{ CN: [hostname.length <= 64 ? hostname : 'Mansio'] }],
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + (VALID_DAYS - 1) * DAY_MS),
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([...names, ...addresses]),
    ],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const lines = der.toString('base64').replace(/(.{64})(?!$)/g, '$1\n');
  return {
    cert: `${certificate.toString('pem')}\n`,
    key: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
  };
}
