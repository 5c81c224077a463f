// Further authorities of certificates for all connections of the process, such as those of NODE_EXTRA_CA_CERTS in an env file: Node.js reads
// the variable at its start, before the file is read.
import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';

/** What Node.js 22.19, 24.5 and later have. */
interface DefaultAuthorities {
  getCACertificates(type: 'default'): string[];
  setDefaultCACertificates(certificates: readonly string[]): void;
}

/** Trusts the authorities of a PEM file; returns false when this version of Node.js cannot. @throws Error when it cannot be read */
export function trustAuthorities(file: string): boolean {
  const { getCACertificates, setDefaultCACertificates } = tls as Partial<DefaultAuthorities>;
  if (getCACertificates === undefined || setDefaultCACertificates === undefined) return false;
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(file, 'utf8')]);
  return true;
}
