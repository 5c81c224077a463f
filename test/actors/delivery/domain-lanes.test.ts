// Who may deliver to a domain next: a bounded number, of which every account has its share.
import { setMaxListeners } from 'node:events';
import test from 'ava';
import { DomainLimiter } from '../../../src/actors/delivery/domain-limiter.js';

const { signal } = new AbortController();
// Every entry that waits listens; in the product each delivery has a signal of its own.
setMaxListeners(0, signal);

test('an account leaves places of a domain to others, and the others come first in its line', async (t) => {
  const lanes = new DomainLimiter(20);
  const entered: string[] = [];
  const enter = async (accountId: string) => {
    const entry = await lanes.enter('slow.test', accountId, signal);
    if (entry.kind === 'entered') entered.push(accountId);
  };
  for (let i = 0; i < 100; i++) void enter('many');
  await new Promise(setImmediate);
  t.is(entered.length, 14, 'two thirds');
  for (let i = 0; i < 6; i++) void enter(`other ${i}`);
  await new Promise(setImmediate);
  t.is(entered.length, 20, 'whoever comes first finds a place');
  void enter('late');
  lanes.leave('slow.test', 'many', {});
  await new Promise(setImmediate);
  t.is(entered.at(-1), 'late', 'before the 86 that came before it');
});

test('where there is one place the accounts take turns', async (t) => {
  const lanes = new DomainLimiter(1);
  const order: string[] = [];
  const deliver = async (accountId: string) => {
    await lanes.enter('d.test', accountId, signal);
    order.push(accountId);
    await new Promise(setImmediate);
    lanes.leave('d.test', accountId, {});
  };
  await Promise.all([...Array.from({ length: 4 }, () => deliver('a')), deliver('b'), deliver('b')]);
  t.deepEqual(order, ['a', 'b', 'a', 'b', 'a', 'a']);
});
