// Takes a message apart with Python's email package, an implementation of MIME other than those of the product.
import { execFileSync } from 'node:child_process';

/** Returns the content of the parts in base64. */
export function pythonParts(octets: Buffer): readonly { type: string; encoding: string; content: string }[] {
  const script = `
import base64, email, json, sys
message = email.message_from_bytes(sys.stdin.buffer.read())
print(json.dumps([{'type': part.get_content_type(), 'encoding': str(part['Content-Transfer-Encoding']),
  'content': base64.b64encode(part.get_payload(decode=True)).decode()} for part in message.walk() if not part.is_multipart()]))`;
  return JSON.parse(execFileSync('python3', ['-c', script], { input: octets }).toString());
}
