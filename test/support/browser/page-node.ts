// A node for tests of its page, with an account whose windows are opened and signed in, and mail that arrives for it.
import type { ExecutionContext } from 'ava';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { accountOn, port, type TestAccount } from '../../../dev/node-accounts.js';
import { MailboxClient } from '../clients/mailbox-client.js';
import { placed } from '../clients/placed.js';
import { startTestNode, type TestNode } from '../node.js';
import { BROWSER_TEST_MS, openWindow, signIn, type Window, type WindowOptions } from './browser.js';

export interface PageNode {
  readonly node: TestNode;
  readonly account: TestAccount;
  readonly client: MailboxClient;
  /** Opens the page in a window of its own, and signs in. */
  open(options?: WindowOptions): Promise<Window>;
}

export const PAGE_SETTINGS = { MANSIO_HOSTED_DOMAINS: 'example.test' };

/** The node ends with the test. `name`: of the account, at example.test. */
export async function startPageNode(
  t: ExecutionContext,
  name: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<PageNode> {
  t.timeout(BROWSER_TEST_MS);
  const node = await startTestNode({ ...PAGE_SETTINGS, ...settings });
  t.teardown(() => node.stop());
  const account = await accountOn(node, name);
  return {
    node,
    account,
    client: new MailboxClient(node, account.key),
    async open(options = {}) {
      const window = await openWindow(t, originOf(node), options);
      await signIn(window, account.key);
      return window;
    },
  };
}

export const originOf = (node: TestNode): string => `http://127.0.0.1:${port(node, 'http')}`;

/** Delivers emails by SMTP, one after the other. Resolves when they are in the mailboxes. */
export async function deliver(node: TestNode, ...mails: readonly SendMailOptions[]): Promise<void> {
  const smtp = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
  for (const mail of mails) await smtp.sendMail(mail);
  smtp.close();
  await placed(node);
}
