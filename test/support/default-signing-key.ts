// A default key for signatures (MANSIO_DKIM_KEY), for nodes that must sign for every domain.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../dev/temporary-directory.js';

export function defaultSigningKey() {
  const file = join(temporaryDirectory('mansio-dkim-'), 'key.pem');
  const { privateKey: key } = generateKeyPairSync('ed25519');
  writeFileSync(file, key.export({ type: 'pkcs8', format: 'pem' }));
  return { key, settings: { MANSIO_DKIM_SELECTOR: 'default', MANSIO_DKIM_KEY: file } as const };
}
