// The authorities of NODE_EXTRA_CA_CERTS when an env file names them: Node.js reads the variable at its start, before the file is read.
import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';

/** What Node.js 22.19, 24.5 and later have. */
interface DefaultAuthorities {
  getCACertificates(type: 'default'): string[];
  setDefaultCACertificates(certificates: readonly string[]): void;
}

/** Returns false when there are such authorities and this version of Node.js cannot add them. @throws Error when the file cannot be read */
export function trustFurtherAuthorities(env: NodeJS.ProcessEnv = process.env): boolean {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined || file === '') return true;
  const { getCACertificates, setDefaultCACertificates } = tls as Partial<DefaultAuthorities>;
  if (getCACertificates === undefined || setDefaultCACertificates === undefined) return false;
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(file, 'utf8')]);
  return true;
}
