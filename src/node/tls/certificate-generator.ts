// Generates a self-signed certificate: EC P-256, for a name and loopback, sufficient for a first start and for tests. Its packages are the
// largest that a start may load, so this file is imported only when a certificate is needed.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const DAY_MS = 86_400_000;
// Apple's clients refuse longer ones: support.apple.com/103769.
const VALID_DAYS = 825;

/** Both values are PEM. */
export async function generateCertificate(hostname: string, now: number): Promise<{ cert: string; key: string }> {
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
