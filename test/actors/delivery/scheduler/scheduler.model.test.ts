// Tests the scheduler as a whole under random mail: emails of several accounts to several domains on few hosts, with deliveries of
// any duration, dead hosts and unreachable mailboxes. Limits hold at every moment, back-off is kept, every email ends.
import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { DeliveryScheduler } from '../../../../src/actors/delivery/scheduler/scheduler.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const LIMITS = { emails: 6, waitingEmails: 4, perDomain: 3, connections: 4, connectionsPerHost: 2 };
const HOSTS = 2;

const email = fc.record({ account: fc.nat(3), domains: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 3 }) });

/** Counts what runs now, by the key of its limit. */
class Running {
  readonly #counts = new Map<string, number>();

  add(key: string, by: number): number {
    const count = (this.#counts.get(key) ?? 0) + by;
    this.#counts.set(key, count);
    return count;
  }
}

test('bounds hold at every moment, back-off is kept, and every email ends', async (t) => {
  const scenario = fc.record({
    emails: fc.array(email, { minLength: 1, maxLength: 40 }),
    failures: fc.array(fc.nat(39), { maxLength: 6 }),
    deadDomains: fc.uniqueArray(fc.nat(4), { maxLength: 2 }),
    order: fc.infiniteStream(fc.nat(1_000)),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ emails, failures, deadDomains, order }) => {
      let now = 0;
      const scheduler = new DeliveryScheduler(LIMITS, () => now);
      const { signal } = new AbortController();
      setMaxListeners(0, signal);
      const running = new Running();
      const next = () => order.next().value ?? 0;
      /** Each function ends a delivery that holds a connection. */
      const open: (() => void)[] = [];
      const failing = new Set(failures);
      const notBefore = new Map<string, number>();
      const due = new Map(emails.map((each, i) => [`e${i}`, { ...each, number: i }]));
      let underWay = 0;

      const deliver = async (permit: ReturnType<DeliveryScheduler['domain']>, domain: number): Promise<void> => {
        const entry = await permit.enter(signal);
        let unreachable: string | undefined;
        if (entry.kind === 'entered') {
          t.true(running.add(`domain ${domain}`, 1) <= LIMITS.perDomain);
          const host = `192.0.2.${domain % HOSTS}`;
          const connection = (await permit.connect(host, signal))!;
          t.true(running.add(host, 1) <= LIMITS.connectionsPerHost);
          t.true(running.add('connections', 1) <= LIMITS.connections);
          await new Promise<void>((resolve) => open.push(resolve));
          running.add(host, -1);
          running.add('connections', -1);
          connection.leave(next() % 2 === 0);
          if (deadDomains.includes(domain)) unreachable = 'dead';
          running.add(`domain ${domain}`, -1);
        }
        permit.leave(unreachable);
      };
      const begin = (id: string): void => {
        const { account, domains, number } = due.get(id)!;
        const accountId = `a${account}`;
        const slot = scheduler.take(accountId, id);
        if (slot === undefined) return;
        t.true(now >= (notBefore.get(id) ?? 0) && now >= (notBefore.get(accountId) ?? 0));
        due.delete(id);
        if (failing.delete(number)) {
          // Every second failure belongs to the account: its mailbox was unreachable.
          const failed = number % 2 === 0 ? id : accountId;
          if (failed === id) scheduler.emailFailed(id);
          else scheduler.accountFailed(accountId);
          notBefore.set(failed, now + 500);
          due.set(id, { account, domains, number });
          slot.release();
          return;
        }
        underWay++;
        t.true(underWay <= LIMITS.emails + LIMITS.waitingEmails);
        const permits = domains.map((domain) => [scheduler.domain(slot, 'x', `d${domain}.test`), domain] as const);
        void Promise.all(permits.map(([permit, domain]) => deliver(permit, domain))).then(() => {
          scheduler.delivered(accountId, id);
          // The mailbox was reached, so the account's back-off ends.
          notBefore.delete(accountId);
          slot.release();
          underWay--;
        });
      };

      for (let steps = 0; due.size > 0 || underWay > 0; steps++) {
        t.true(steps < 1_000, 'something waits for ever');
        now += 100;
        for (const id of [...due.keys()]) begin(id);
        await new Promise(setImmediate);
        open.splice(next() % (open.length || 1), 1)[0]?.();
        await new Promise(setImmediate);
      }
      t.is(scheduler.emails.free, LIMITS.emails);
      t.deepEqual(scheduler.emails.accountsAtShare, []);
    }),
    { numRuns: runs(40) },
  );
});
