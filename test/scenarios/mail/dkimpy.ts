// Verifies what leaves the server with dkimpy (https://launchpad.net/dkimpy), an implementation of DKIM and ARC other than that of the product.
import { spawnSync } from 'node:child_process';
import type { ExecutionContext } from 'ava';
import { keyRecord, RSA, zones } from '../../message-checks/mailauth/peers.js';

const PYTHON = '/usr/bin/python3';
const SCRIPT = `
import dkim, json, sys
given = json.load(sys.stdin)
message = given['message'].encode('latin1')
lookup = lambda name, timeout=5: given['records'].get(name.decode().rstrip('.'), '').encode()
cv, results, reason = dkim.arc_verify(message, dnsfunc=lookup)
checked = dkim.DKIM(message)
own = [value for name, value in checked.headers if name.lower() == b'dkim-signature']
index = [i for i, value in enumerate(own) if b'd=peer.test' in value and b'a=rsa' in value][0]
print(json.dumps({'dkim': checked.verify(idx=index, dnsfunc=lookup), 'arc': cv.decode() if cv else None, 'reason': str(reason)}))`;

/**
 * Tests that the signature of peer.test and the chain of seals of `sealers` (domains whose key is RSA, with the selector `sel`) are valid.
 * Only says so where dkimpy is not installed.
 */
export function checkWithDkimpy(t: ExecutionContext, message: string, sealers: readonly string[]): void {
  if (spawnSync(PYTHON, ['-c', 'import dkim']).status !== 0) {
    t.log('dkimpy is not installed: signature and seal are not verified');
    return;
  }
  const text = ({ TXT }: { readonly TXT?: readonly string[] }) => TXT?.[0];
  const records = {
    'rsa._domainkey.peer.test': text(zones()['rsa._domainkey.peer.test']!),
    ...Object.fromEntries(sealers.map((domain) => [`sel._domainkey.${domain}`, text(keyRecord(RSA))])),
  };
  const input = JSON.stringify({ message: message.replace(/\r?\n/g, '\r\n'), records });
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', SCRIPT], { input, encoding: 'utf8' });
  t.like(JSON.parse(stdout || '{}'), { dkim: true, arc: 'pass' }, stderr);
}
