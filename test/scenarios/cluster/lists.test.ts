// Tests lists that stock clients follow on two nodes: they equal REST's lists, wherever the owner of the mailbox is, also after the
// owner or the node of the client dies.
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type HubConnection, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { createTransport } from 'nodemailer';
import type { ClusterNode } from '../../../dev/local-node.js';
import type { TestAccount } from '../../../dev/node-accounts.js';
import {
  applyChanges,
  type FollowedList,
  followedList,
  type ListChange,
  type Subscribed,
} from '../../support/clients/followed-list.js';
import { startHub } from '../../support/clients/hub-start.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

/** Queries of subscriptions, and the REST paths of the same lists. */
const LISTS: readonly (readonly [query: object, path: string])[] = [
  [{}, '/api/emails?'],
  [{ pageSize: 3, isRead: false }, '/api/emails?pageSize=3&isRead=false'],
  [{ page: 2, pageSize: 4 }, '/api/emails?page=2&pageSize=4'],
  [{ sort: 'subject', pageSize: 5 }, '/api/emails?sort=subject&pageSize=5'],
  [{ q: 'invoice', pageSize: 5 }, '/api/emails/search?q=invoice&pageSize=5'],
  [{ isFlagged: true, q: '' }, '/api/emails/search?isFlagged=true'],
];

const RETRY_MS = 50;

interface RestPage {
  readonly items: readonly unknown[];
  readonly totalCount: number;
  readonly unreadCount: number;
}

/** An application: it follows the lists, and subscribes again after each reconnection. */
class Application {
  /** The node of the next connection. */
  at: ClusterNode;
  readonly hub: HubConnection;
  readonly followed = new Map<string, FollowedList>();
  readonly #early = new Map<string, ListChange[]>();

  constructor(node: ClusterNode, { key }: TestAccount) {
    this.at = node;
    this.hub = new HubConnectionBuilder()
      .withUrl(this.#url, { accessTokenFactory: () => key })
      .withAutomaticReconnect({ nextRetryDelayInMilliseconds: () => RETRY_MS })
      .configureLogging(LogLevel.None)
      .build();
    this.hub.on('ListChanged', (id: string, changes: ListChange[]) => {
      const list = [...this.followed.values()].find((each) => each.id === id);
      // `invoke` resolves its promise later, so changes in the same frame can arrive before their list is known.
      if (list === undefined) this.#early.set(id, [...(this.#early.get(id) ?? []), ...changes]);
      else applyChanges(list, changes);
    });
    for (const event of ['NewEmail', 'EmailUpdated', 'EmailDeleted', 'UnreadCountChanged'])
      this.hub.on(event, () => {});
    this.hub.onreconnecting(() => {
      this.hub.baseUrl = this.#url;
    });
    this.hub.onreconnected(() => this.#beginAgain());
  }

  async start(): Promise<void> {
    await startHub(this.hub);
    await this.#beginAgain();
  }

  get #url(): string {
    return `${this.at.http}/hubs/email`;
  }

  /** Repeats until it has the lists: they are refused while the mailbox has no owner. The next connection starts its own loop. */
  async #beginAgain(): Promise<void> {
    const id = this.hub.connectionId;
    while (this.hub.connectionId === id) {
      try {
        return await this.#begin();
      } catch {
        await delay(RETRY_MS);
      }
    }
  }

  async #begin(): Promise<void> {
    this.followed.clear();
    for (const [query, path] of LISTS) {
      const list = followedList(await this.hub.invoke<Subscribed>('Subscribe', query));
      applyChanges(list, this.#early.get(list.id) ?? []);
      this.#early.delete(list.id);
      this.followed.set(path, list);
    }
  }

  /** Says whether every list equals that of REST. */
  async isTrue(node: ClusterNode, key: string): Promise<boolean> {
    for (const [, path] of LISTS) {
      const response = await fetch(node.http + path, { headers: { authorization: `Bearer ${key}` } });
      const { items, totalCount, unreadCount } = (await response.json()) as RestPage;
      const list = this.followed.get(path);
      if (list === undefined || list.total !== totalCount || list.unread !== unreadCount) return false;
      if (!isDeepStrictEqual(list.items, items)) return false;
    }
    return true;
  }
}

testWith('nats-server')(
  'lists of stock clients are what REST lists, through the death of owners and nodes',
  async (t) => {
    t.timeout(600_000);
    const cluster = await startCluster(t, { nodes: 2, accounts: 1, leaseTtlMs: PATIENT_TTL_MS });
    await cluster.settled();
    const account = cluster.accounts[0]!;
    let number = 0;
    const send = async (node: ClusterNode, count: number) => {
      const [host, port] = node.mx.split(':');
      const transport = createTransport({ host: host!, port: Number(port), tls: { rejectUnauthorized: false } });
      for (let i = 0; i < count; i++) {
        number++;
        const subject = number % 3 === 0 ? `invoice ${number}` : `letter ${100 - number}`;
        await transport.sendMail({ from: 'bob@remote.test', to: account.email, subject, text: subject });
      }
    };
    /** A 503 is retried: the mailbox may have no owner for a while. */
    const served = (node: ClusterNode, method: string, path: string, body?: object) =>
      eventually(`${method} ${path} to be served`, async () => {
        const response = await fetch(node.http + path, {
          method,
          headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
        // A DELETE may succeed although its answer is 503; then the next one is 404.
        return response.ok || response.status === 404 ? response : undefined;
      });
    const mark = async (node: ClusterNode, body: object) => {
      const page = await served(node, 'GET', '/api/emails');
      const { items } = (await page!.json()) as { items: { id: string }[] };
      for (const { id } of items.slice(0, 4)) await served(node, 'PATCH', `/api/emails/${id}`, body);
      await served(node, 'DELETE', `/api/emails/${items.at(-1)!.id}`);
    };

    const owner = await cluster.ownerOf(account);
    const other = cluster.nodes.find((node) => node !== owner)!;
    await send(owner, 3);
    const applications = [new Application(owner, account), new Application(other, account)];
    t.teardown(() => Promise.all(applications.map(({ hub }) => hub.stop())));
    for (const application of applications) await application.start();
    const areTrue = (what: string, node: ClusterNode) =>
      eventually(what, async () => {
        for (const application of applications) if (!(await application.isTrue(node, account.key))) return false;
        return true;
      });
    t.true(await areTrue('the lists as they are at first', other));
    await Promise.all([send(owner, 6), send(other, 6)]);
    await mark(other, { isRead: true, isFlagged: true });
    t.true(await areTrue('the lists after mail and marks', owner));

    // The owner dies: the other client's subscriptions continue, and the client of the dead node connects to the other node.
    applications[0]!.at = other;
    await owner.kill();
    await send(other, 3);
    await mark(other, { isRead: false });
    t.true(await areTrue('the lists after the death of the owner', other));
    await owner.start();
    await cluster.settled();

    // The mailbox may have an owner other than the node of the clients now.
    await send(owner, 2);
    await mark(owner, { isFlagged: false });
    t.true(await areTrue('the lists after the return of the node', owner));

    for (const application of applications) application.at = owner;
    await other.kill();
    await send(owner, 2);
    t.true(await areTrue('the lists after the death of the node of the clients', owner));
  },
);
