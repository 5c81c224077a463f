// The certificate and key of every listener with TLS: the operator's PEM files, read again when they change, or a
// self-signed pair made once in the data directory. Subscribers get each new pair.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { StartFault } from '../errors/start-fault.js';
import type { KeyPair } from '../gateways/tcp/certificate-source.js';
import { selfSigned } from './tls-certificate.js';

interface TlsFiles {
  /** Paths. */
  readonly cert: string;
  readonly key: string;
}

export interface TlsMaterial {
  current(): KeyPair;
  /** When the present certificate ends. */
  readonly notAfter: Date;
  /** Calls back with every later pair until the returned function is called. */
  onChange(listener: (pair: KeyPair) => void): () => void;
  /** Looks at the files now instead of at the next poll. */
  reload(): Promise<void>;
  stop(): void;
}

export interface TlsOptions {
  /** The operator's files; undefined: the pair of the data directory. */
  readonly files: TlsFiles | undefined;
  readonly dataDir: string;
  /** The name a self-signed certificate is made out to. */
  readonly hostname: string;
  readonly log: Logger;
  readonly pollMs?: number;
}

/** An expected reason why TLS cannot be set up. */
export class TlsFault extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('tls-unusable', message, options);
  }
}

/** @throws TlsFault when the operator's files do not make a pair. */
export async function openTls({ files, dataDir, hostname, log, pollMs = 2000 }: TlsOptions): Promise<TlsMaterial> {
  const source = files ?? (await selfSigned(dataDir, hostname, log));
  const listeners = new Set<(pair: KeyPair) => void>();
  let seen = await fingerprint(source);
  let pair = await load(source);
  let notAfter = endOf(pair);
  if (notAfter.getTime() < Date.now()) log.warn({ notAfter, cert: source.cert }, 'the certificate has expired');

  // Polling sees what a watch misses: replaced links, network file systems, files that are away for a moment.
  const readFiles = async () => {
    const now = await fingerprint(source);
    if (now === seen) return;
    seen = now;
    try {
      const next = await load(source);
      if (next.cert === pair.cert && next.key === pair.key) return;
      notAfter = endOf(next);
      pair = next;
      log.info({ cert: source.cert, notAfter }, 'new certificate in use');
    } catch (error) {
      // Also between the writing of one file and the other; the second change is seen too.
      log.error({ err: error }, 'the changed certificate is not usable: keeping the old one');
      return;
    }
    for (const listener of listeners) listener(pair);
  };
  let reading: Promise<void> | undefined;
  const reload = () => {
    reading ??= readFiles().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const timer = setInterval(() => void reload(), pollMs).unref();

  return {
    current: () => pair,
    get notAfter() {
      return notAfter;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reload,
    stop: () => clearInterval(timer),
  };
}

async function fingerprint({ cert, key }: TlsFiles): Promise<string> {
  const marks = [cert, key].map(async (path) => {
    try {
      const { ino, size, mtimeMs, ctimeMs } = await stat(path);
      return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code);
    }
  });
  return (await Promise.all(marks)).join('\n');
}

async function load(files: TlsFiles): Promise<KeyPair> {
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

function endOf({ cert }: KeyPair): Date {
  return new Date(new X509Certificate(cert).validTo);
}
