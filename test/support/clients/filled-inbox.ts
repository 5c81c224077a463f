// Tests that kill a node under IMAP use this: an account whose inbox has many small messages, and its sessions.
import { append } from '../../../bench/imap/lines.js';
import { ImapClient } from '../../../bench/support/imap-client.js';
import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { preparedDirectory } from '../database/prepared-cluster.js';
import { startTestNode, type TestNode } from '../node.js';

export async function imapSession(node: TestNode, { email, key }: TestAccount): Promise<ImapClient> {
  const client = await ImapClient.open({ port: port(node, 'imap') });
  await client.ok(`LOGIN ${email} ${key}`);
  return client;
}

/** `settings` are for the next nodes on the same data. The subjects of messages are their numbers from 0 on. */
export async function nodeWithInbox(email: string, messages: number) {
  const settings = {
    MANSIO_DATA_DIR: await preparedDirectory('mansio-inbox-'),
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    MANSIO_LOG_LEVEL: 'warn',
  };
  const node = await startTestNode(settings);
  try {
    const sql = await storeOf(node);
    const account = await createAccount(sql, email, ['imap']);
    await sql.end();
    const client = await imapSession(node, account);
    await append(
      client,
      'INBOX',
      Array.from({ length: messages }, (_, i) => Buffer.from(`Subject: ${i}\r\n\r\nx\r\n`)),
    );
    return { settings, node, account, client };
  } catch (error) {
    await node.stop();
    throw error;
  }
}
