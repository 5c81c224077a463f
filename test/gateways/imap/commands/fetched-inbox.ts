// Gives tests of FETCH an inbox with numbered messages.
import type { ImapClient } from '../client.js';
import { ALICE, type ImapGateway } from '../gateway.js';

export const message = (n: number, body = `text ${n}`) =>
  `From: a${n}@example.test\r\nSubject: number ${n}\r\nDate: Sat, 21 Nov 2026 13:10:19 +0000\r\n\r\n${body}\r\n`;

export async function inbox(gateway: ImapGateway, count: number): Promise<ImapClient> {
  for (let n = 1; n <= count; n++) await gateway.deliver(ALICE, message(n));
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  return client;
}
