// Does what a user of a whole node does: sends mail by nodemailer or a plain socket, and calls the API by fetch. `dev/node-accounts.ts`
// makes the accounts and keys.
import { port } from '../../../dev/node-accounts.js';
import type { TestNode } from '../node.js';

export interface ListedEmail {
  readonly id: string;
  readonly subject: string;
  readonly isRead: boolean;
  readonly receivedAt: string;
  readonly draftId?: string;
}

export interface EmailList {
  readonly items: readonly ListedEmail[];
  readonly totalCount: number;
}

export interface EmailView extends ListedEmail {
  readonly textBody: string;
  readonly attachments: readonly { readonly id: string; readonly fileName: string; readonly size: number }[];
}

/** Each try may take as long as a node waits for a mailbox. */
const MOST_TRIES = 30;
const PAUSE_MS = 50;

export class MailboxClient {
  readonly #base: string;
  readonly #key: string;

  constructor(node: TestNode, key: string) {
    this.#base = `http://127.0.0.1:${port(node, 'http')}`;
    this.#key = key;
  }

  request(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(this.#base + path, {
      method,
      ...(signal && { signal }),
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Returns the body of a GET that must succeed. */
  async get<T>(path: string): Promise<T> {
    const response = await this.request('GET', path);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /**
   * Asks again while the answer is 503: a node that has just started, and has much to do, may have no time for a request yet. @throws like
   * `get`, and when there is no node any more
   */
  async getPatiently<T>(path: string): Promise<T> {
    for (let tries = 1; ; tries++) {
      const response = await this.request('GET', path);
      if (response.status === 200) return (await response.json()) as T;
      const text = await response.text();
      if (response.status !== 503 || tries === MOST_TRIES) throw new Error(`${path}: ${response.status} ${text}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  /** Returns every email of the inbox, the newest first. */
  async inbox(): Promise<ListedEmail[]> {
    const emails: ListedEmail[] = [];
    for (let page = 1; ; page++) {
      const { items, totalCount } = await this.get<EmailList>(`/api/emails?page=${page}&pageSize=100`);
      emails.push(...items);
      if (items.length === 0 || emails.length >= totalCount) return emails;
    }
  }
}
