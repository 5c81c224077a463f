// Makes the request that an authority signs (PKCS #10) with a key of its own, and reads the id by which a certificate is asked about its
// renewal (RFC 9773 §4.1). Its package is large, so this file is imported when a certificate is requested.
import 'reflect-metadata';
import { X509Certificate as NodeCertificate, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const KEY = { name: 'ECDSA', namedCurve: 'P-256' };

export interface CertificateRequest {
  /** DER. */
  readonly der: Buffer;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
}

export async function certificateRequest(names: readonly string[]): Promise<CertificateRequest> {
  const keys = await webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value })))],
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const lines = pkcs8.replace(/(.{64})(?!$)/g, '$1\n');
  return {
    der: Buffer.from(request.rawData),
    privateKey: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
  };
}

/** Undefined for a certificate that does not name the key of its authority. */
export function renewalIdOf(pem: string): string | undefined {
  const found = new x509.X509Certificate(pem).getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId;
  if (found === undefined) return undefined;
  const hex = new NodeCertificate(pem).serialNumber;
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  // The octets of a DER integer: a leading bit of 1 would make the number negative.
  const serial = Buffer.from(/^[89a-f]/i.test(even) ? `00${even}` : even, 'hex');
  return `${Buffer.from(found, 'hex').toString('base64url')}.${serial.toString('base64url')}`;
}
