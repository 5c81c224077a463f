// Checks a key of ours as other servers do: signs a message with it, and verifies the signature with the key that DNS has.
import { createHash } from 'node:crypto';
import { CanonicalBody } from '../../mail-format/authentication/body-canonicalization.js';
import { headerLines } from '../../mail-format/header/header-lines.js';
import type { Dns } from '../../net/dns/resolver.js';
import type { SigningKey } from '../../store/signing-keys.js';
import { asField } from './fields.js';
import { Lookups } from './lookups.js';
import { PublicKeys } from './public-keys.js';
import { readSignature } from './signature.js';
import { checkSignature, keyName, type SignatureResult } from './signature-check.js';
import { createSigner } from './signing.js';

const BODY = 'A check of the DKIM key.\r\n';

/** Returns `pass`, or why other servers do not verify the signature. @throws Error when the key cannot sign */
export async function checkPublishedKey(key: SigningKey, dns: Dns, deadlineMs: number): Promise<SignatureResult> {
  const { domain } = key;
  const header = `From: postmaster@${domain}\r\nSubject: A check\r\nMessage-ID: <check@${domain}>\r\n`;
  let fault: unknown;
  const sign = createSigner({
    keys: { keysOf: async () => [key], isHosted: async () => true },
    log: {
      error({ err }) {
        fault = err;
      },
    },
  });
  const field = await sign(domain, () => [Buffer.from(`${header}\r\n${BODY}`)], 'check');
  if (field === '') throw new Error('the key cannot be used', { cause: fault });
  const lines = headerLines(Buffer.from(`${field}${header}\r\n`));
  const signature = readSignature(lines[0]!, 'DKIM');
  if (!('signature' in signature)) return { result: signature.result, comment: signature.reason };
  const hash = createHash('sha256');
  const body = new CanonicalBody(signature.bodyCanonicalization, (octets) => hash.update(octets));
  body.write(Buffer.from(BODY));
  body.finish();
  const lookups = new Lookups(dns, '', { deadlineMs, lookups: 1 });
  try {
    const found = new PublicKeys().find('DKIM', keyName(signature), lookups);
    found.catch(() => undefined);
    const fields = lines.map((line) => asField(line));
    return await checkSignature('DKIM', signature, {
      key: found,
      fields,
      bodyHash: hash.digest('base64'),
      now: Date.now(),
    });
  } finally {
    lookups.close();
  }
}
