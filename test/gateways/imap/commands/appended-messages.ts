// Gives tests of APPEND a message, and what a mailbox holds afterwards.
import type { ImapClient } from '../client.js';
import { ALICE, type ImapGateway } from '../gateway.js';

export const MESSAGE =
  'From: a@example.test\r\nSubject: Hello\r\nMessage-Id: <1@example.test>\r\n\r\nBody\nbare\r\n\xe9\r\n';
export const BYTES = Buffer.from(MESSAGE, 'latin1');

export const emailsIn = async ({ mailboxes }: ImapGateway, folder: string) =>
  (await mailboxes.refs.of(ALICE).ask('list', { folder, page: 1, pageSize: 100 })).reply!.items;

/** Fetches attributes of a message as a client sees them. */
export async function fetched(
  client: ImapClient,
  mailbox: string,
  uid: number | string,
  items: string,
): Promise<string> {
  await client.command(`EXAMINE ${mailbox}`);
  const { untagged } = await client.command(`UID FETCH ${uid} (${items})`);
  return untagged.join('\r\n');
}

export const uidOf = (tagged: string): string => /^OK \[APPENDUID \d+ ([\d:,]+)\] APPEND completed$/.exec(tagged)![1]!;
