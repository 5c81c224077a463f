// The self-signed certificate of a node without a configured one. It is stored in the data directory, so that clients which trusted it once
// recognize it; a new one is made shortly before it ends.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { writePrivate } from '../../store/local/data-directory.js';

const DAY_MS = 86_400_000;
const RENEW_DAYS = 30;

/** The files of the pair, which is made when it is missing or about to end. */
export async function selfSigned(
  dataDir: string,
  hostname: string,
  log: Logger,
): Promise<{ readonly cert: string; readonly key: string }> {
  const files = { cert: join(dataDir, 'tls-cert.pem'), key: join(dataDir, 'tls-key.pem') };
  if (!lasts(files)) {
    // The generator is loaded only here, because most starts find a certificate.
    const { generateCertificate } = await import('./certificate-generator.js');
    const pair = await generateCertificate(hostname, Date.now());
    // The key is written first: a certificate without its key would count as complete.
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
