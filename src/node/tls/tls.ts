// The certificates and keys of all listeners with TLS: the operator's PEM files, which are read again when they change, or a self-signed
// pair that is made once in the data directory. Session tickets have a key that all nodes derive from one secret and the time.

import { createPrivateKey, hkdfSync, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { StartFault } from '../../concurrency/start-fault.js';
import { CertificateSource, type KeyPair, TICKET_KEY_OCTETS } from '../../net/tcp/certificate-source.js';
import { selfSigned } from './tls-certificate.js';

export interface TlsFiles {
  /** Paths. */
  readonly cert: string;
  readonly key: string;
}

export interface TlsMaterial {
  readonly certificates: CertificateSource;
  /** Sets the secret that protects session tickets from now on, on all nodes that have it. */
  shareTickets(secret: string): void;
  /** Checks the files and the time now instead of at the next poll. */
  reload(): Promise<void>;
  stop(): void;
}

export interface TlsOptions {
  /** The operator's pairs, the default first; undefined: the pair of the data directory. */
  readonly files: readonly TlsFiles[] | undefined;
  readonly dataDir: string;
  /** The name in a self-signed certificate. */
  readonly hostname: string;
  readonly log: Logger;
  readonly pollMs?: number;
  /** ms since the epoch. */
  readonly now?: () => number;
}

/** The lifetime of a ticket key. Its sessions are not resumed later. */
const TICKET_KEY_MS = 12 * 3_600_000;

/** An expected reason for which TLS cannot be set up. */
export class TlsFault extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('tls-unusable', message, options);
  }
}

/** @throws TlsFault when the operator's files do not make pairs. */
export async function openTls(options: TlsOptions): Promise<TlsMaterial> {
  const { files, dataDir, hostname, log, pollMs = 2000, now = Date.now } = options;
  const source = files ?? [await selfSigned(dataDir, hostname, log)];
  const cert = source.map((pair) => pair.cert).join(',');
  let seen = await fingerprint(source);
  const certificates = new CertificateSource(await load(source), { isProvisional: files === undefined });
  const { expiresAt: notAfter } = certificates.presented;
  if (notAfter.getTime() < Date.now()) log.warn({ notAfter, cert }, 'the certificate has expired');

  // Polling notices what a watch misses: replaced links, network file systems, files that are missing for a moment.
  const readFiles = async () => {
    const current = await fingerprint(source);
    if (current === seen) return;
    seen = current;
    // This also happens between the writes of the two files; the second change is noticed too.
    const unusable = (err: unknown) => log.error({ err }, 'the changed certificate is not usable: keeping the old one');
    const usable = source.map((pair, i) =>
      loadPair(pair).catch((error) => {
        unusable(error);
        return certificates.pairs[i]!;
      }),
    );
    const next = await Promise.all(usable);
    if (isSame(next, certificates.pairs)) return;
    try {
      certificates.renew(next);
      log.info({ cert, notAfter: certificates.presented.expiresAt }, 'new certificate in use');
    } catch (error) {
      unusable(error);
    }
  };
  let secret: string | undefined;
  let period: number | undefined;
  const rotate = () => {
    const present = Math.floor(now() / TICKET_KEY_MS);
    if (secret === undefined || present === period) return;
    period = present;
    certificates.rotate(ticketKey(secret, present));
  };
  let reading: Promise<void> | undefined;
  const reload = () => {
    rotate();
    reading ??= readFiles().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const timer = setInterval(() => void reload(), pollMs).unref();

  return {
    certificates,
    shareTickets(shared) {
      secret = shared;
      period = undefined;
      rotate();
    },
    reload,
    stop: () => clearInterval(timer),
  };
}

function ticketKey(secret: string, period: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `TLS session tickets ${period}`, TICKET_KEY_OCTETS));
}

async function fingerprint(files: readonly TlsFiles[]): Promise<string> {
  const paths = files.flatMap(({ cert, key }) => [cert, key]);
  const marks = paths.map(async (path) => {
    try {
      const { ino, size, mtimeMs, ctimeMs } = await stat(path);
      return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code);
    }
  });
  return (await Promise.all(marks)).join('\n');
}

function load(files: readonly TlsFiles[]): Promise<readonly KeyPair[]> {
  return Promise.all(files.map(loadPair));
}

async function loadPair(files: TlsFiles): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readPem(files.cert), readPem(files.key)]);
  const leaf = readable(`${files.cert} (MANSIO_TLS_CERT) holds no certificate`, () => new X509Certificate(cert));
  const secret = readable(`${files.key} (MANSIO_TLS_KEY) holds no private key without a passphrase`, () =>
    createPrivateKey(key),
  );
  if (!leaf.checkPrivateKey(secret)) throw new TlsFault(`the key in ${files.key} is not the one of ${files.cert}`);
  return { cert, key };
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new TlsFault(`cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
}

function readable<T>(complaint: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new TlsFault(complaint, { cause });
  }
}

function isSame(some: readonly KeyPair[], others: readonly KeyPair[]): boolean {
  return some.every(({ cert, key }, i) => cert === others[i]?.cert && key === others[i]?.key);
}
