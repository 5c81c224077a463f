// Implements one reader of the load: it lists an inbox and marks unread emails, on the nodes in turn. It repeats an unanswered request
// on another node, as browsers and balancers do; a request without an answer in time has failed.
import type { EmailList } from '../../../support/clients/mailbox-client.js';
import type { Work } from './sender.js';

/** Counts the answers that readers got. */
export interface Calls {
  made: number;
  /** Reasons for repeated requests: a 503, a broken connection, no answer in time. */
  readonly repeated: string[];
  /** The number of answers of each status. */
  readonly statuses: Map<number, number>;
  /** Unexpected statuses, and requests without an answer in time. */
  readonly failed: string[];
  /** Ids of emails for which marking as read was acknowledged. */
  readonly read: Set<string>;
  /** In ms. It includes the repetitions of a request. */
  slowestMs: number;
}

const RETRY_MS = 100;
const MARKED = 3;

export async function reader(number: number, work: Work, calls: Calls): Promise<void> {
  let turn = number;

  async function request(key: string, method: string, path: string, body?: unknown): Promise<Response | undefined> {
    const began = performance.now();
    let last = '';
    for (let attempt = 1; performance.now() - began < work.patienceMs; attempt++) {
      if (attempt > 1) {
        if (work.stopping()) return undefined;
        calls.repeated.push(`${method} ${path}: ${last}`);
        await pause(RETRY_MS);
      }
      const targets = work.targets();
      const target = targets[turn++ % targets.length]!;
      try {
        const reply = await fetch(target.http + path, {
          method,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          signal: AbortSignal.timeout(work.answerMs),
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await reply.text();
        calls.made++;
        calls.statuses.set(reply.status, (calls.statuses.get(reply.status) ?? 0) + 1);
        last = `${target.name}: ${reply.status} ${text.slice(0, 200)}`;
        if (reply.status === 503) continue;
        calls.slowestMs = Math.max(calls.slowestMs, performance.now() - began);
        if (reply.ok) return new Response(text === '' ? null : text);
        break;
      } catch (error) {
        last = `${target.name}: ${error instanceof Error ? (error.cause ?? error.message) : error}`;
      }
    }
    calls.failed.push(`${method} ${path}: ${last}`);
    return undefined;
  }

  for (let round = number; !work.stopping(); round++) {
    const { key } = work.accounts[round % work.accounts.length]!;
    const reply = await request(key, 'GET', '/api/emails?pageSize=20');
    const items = reply === undefined ? [] : ((await reply.json()) as EmailList).items;
    for (const { id } of items.filter(({ isRead }) => !isRead).slice(0, MARKED)) {
      const marked = await request(key, 'PATCH', `/api/emails/${id}`, { isRead: true });
      if (marked !== undefined) calls.read.add(id);
    }
    await pause(work.pauseMs());
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
