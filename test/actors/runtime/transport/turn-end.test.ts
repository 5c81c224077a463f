import { TurnEnd } from '../../../../src/actors/runtime/transport/turn-end.js';
import test from '../../../support/test.js';
import { turn } from '../../../support/turns.js';

test('tasks run once, in order, after what the turn has begun; those that tasks add run at the next end', async (t) => {
  const turnEnd = new TurnEnd();
  const ran: string[] = [];
  turnEnd.add(() => {
    ran.push('first');
    turnEnd.add(() => ran.push('added'));
  });
  turnEnd.add(() => ran.push('second'));
  queueMicrotask(() => process.nextTick(() => ran.push('microtasks and ticks')));
  await turn();
  t.deepEqual(ran, ['microtasks and ticks', 'first', 'second']);
  turnEnd.now();
  t.is(ran.at(-1), 'added');
  await turn();
  t.is(ran.length, 4);
});
