// Shared by tests of IMAP programs: a client that prepares the remote mailbox, and messages.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { port, type TestAccount } from '../../../dev/node-accounts.js';
import type { TestNode } from '../node.js';

export function imapFlow(node: TestNode, { email, key }: TestAccount, isSecure = true): ImapFlow {
  return new ImapFlow({
    host: '127.0.0.1',
    port: port(node, isSecure ? 'imaps' : 'imap'),
    secure: isSecure,
    auth: { user: email, pass: key },
    tls: { rejectUnauthorized: false },
    logger: false,
  });
}

/** Messages with the same subject have the same Message-ID. */
export function messageOf(subject: string): string {
  return [
    'From: =?utf-8?Q?Zo=C3=AB?= <zoe@example.test>',
    'To: b@example.test',
    `Subject: ${subject}`,
    `Message-ID: <${createHash('sha1').update(subject).digest('hex')}@example.test>`,
    'Date: Sun, 22 Nov 2026 10:00:00 +0000',
    '',
    'a body',
    '',
  ].join('\r\n');
}

/** Returns the path of the self-signed certificate in the node's data directory. */
export function certificateOf(node: TestNode): string {
  const file = readdirSync(node.dataDir, { recursive: true })
    .map(String)
    .find((name) => /cert.*\.pem$|\.crt$/.test(name));
  return join(node.dataDir, file!);
}
