// Makes a certificate of its own for a host, and its key.
import { readFileSync } from 'node:fs';
import pino from 'pino';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import type { KeyPair } from '../../src/net/tcp/certificate-source.js';
import { selfSigned } from '../../src/node/tls/tls-certificate.js';

export async function pairFor(host: string): Promise<KeyPair> {
  const { cert, key } = await selfSigned(temporaryDirectory('mansio-pair-'), host, pino({ level: 'silent' }));
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
