// Waits for mail that a node has accepted: a busy mailbox places it after the reply to its sender, from its inbound row.
import { storeOf } from '../../../dev/node-accounts.js';
import type { TestNode } from '../node.js';
import { until } from '../until.js';

/** Resolves when every message that the node has accepted before is in its mailboxes. Mail that is still in a queue is not accepted there. */
export async function placed(node: TestNode): Promise<void> {
  const sql = await storeOf(node);
  try {
    await until(async () => (await sql`select from inbound limit 1`).count === 0);
  } finally {
    await sql.end();
  }
}
