// Measures 1,000 live queries on one account that gets mail continuously: how long after its 250 an email is in the list of each
// client, and what it costs the node. One part has different lists, the other one list on 1,000 connections.
import { figure, latency } from '../support/figures.js';
import { EmailStream } from './email-stream.js';
import type { HubSwarm } from './hub-swarm.js';
import type { KeyedAccount, Target } from './target.js';

const A_SECOND = 10;
const SECONDS = 10;
const CONNECTIONS = 50;
/** The pages of the inbox, and as many of its unread emails. */
const PAGES = 10;
const SMALLEST_PAGE = 20;
const EMAILS_BEFORE = 500;
const FOLLOWERS = 1_000;

/** Every email changes each of the lists: the entries of their pages move by one. */
export async function differentLists(target: Target, swarm: HubSwarm): Promise<void> {
  const account = await accountWithMail(target);
  await swarm.open(target.hub(), [account.key], CONNECTIONS);
  const queries = Array.from({ length: CONNECTIONS }, (_, i) =>
    Array.from({ length: PAGES }, (_, page) => ({
      folder: 'inbox',
      page: page + 1,
      pageSize: SMALLEST_PAGE + i,
    })).flatMap((query) => [query, { ...query, isRead: false }]),
  );
  await measure(target, swarm, account, queries, `${CONNECTIONS * PAGES * 2} different lists`);
}

export async function oneList(target: Target, swarm: HubSwarm): Promise<void> {
  const account = await accountWithMail(target);
  await swarm.open(target.hub(), [account.key], FOLLOWERS);
  await measure(target, swarm, account, [[{ folder: 'inbox', pageSize: 50 }]], `one list of ${FOLLOWERS} connections`);
}

async function accountWithMail(target: Target): Promise<KeyedAccount> {
  const [account] = (await target.accounts(1)) as [KeyedAccount];
  const sender = await target.sender();
  for (let i = 0; i < EMAILS_BEFORE; i++) await target.deliver(sender, account, `before ${i}`);
  sender.close();
  return account;
}

async function measure(
  target: Target,
  swarm: HubSwarm,
  account: KeyedAccount,
  queries: readonly (readonly unknown[])[],
  what: string,
): Promise<void> {
  const began = performance.now();
  await swarm.subscribe(queries);
  figure(`subscribing to ${what}`, performance.now() - began, 'ms');
  const emails = A_SECOND * SECONDS;
  const stream = new EmailStream(target, A_SECOND, SECONDS, () => account);
  const arrivals = await swarm.trace('ListChanged', emails * swarm.connections, () => stream.run());
  latency(`250 of SMTP to the change, ${what}, ${A_SECOND} emails/s`, stream.latencies(arrivals));
  figure('  the node an email', (await stream.cost()) / 1000, 'ms of a processor');
}
