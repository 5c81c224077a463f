// Tests refreshes of work: one runs at a time; a request meanwhile causes one more, even after a failure; none runs after the end.

import { RefreshSchedule } from '../../../../src/gateways/hub/live-queries/refresh-schedule.js';
import test from '../../../support/test.js';
import { until } from './lists-world.js';

const AT_ONCE = { leastMs: 0, factor: 0, mostMs: 0 };

/** The test ends each piece of work. */
class Work {
  begun = 0;
  #finish = (_isDone: boolean) => {};

  readonly run = (): Promise<boolean> => {
    this.begun++;
    return new Promise((resolve) => {
      this.#finish = resolve;
    });
  };

  finish(isDone: boolean): void {
    this.#finish(isDone);
  }
}

const turns = async () => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

test('a refresh begins when it is asked for; what is asked for meanwhile is one more refresh', async (t) => {
  const work = new Work();
  const refreshes = new RefreshSchedule(work.run, AT_ONCE);
  t.teardown(() => refreshes.end());
  await turns();
  t.is(work.begun, 0);
  refreshes.ask();
  t.is(work.begun, 1);
  for (let i = 0; i < 5; i++) refreshes.ask();
  await turns();
  t.is(work.begun, 1, 'one at a time');
  work.finish(true);
  await until(() => work.begun === 2);
  work.finish(true);
  await turns();
  t.is(work.begun, 2);
});

test('a refresh that failed is followed by the next that is asked for', async (t) => {
  const work = new Work();
  const refreshes = new RefreshSchedule(work.run, AT_ONCE);
  t.teardown(() => refreshes.end());
  refreshes.ask();
  refreshes.ask();
  work.finish(false);
  await until(() => work.begun === 2);
  t.pass();
});

test('no refresh begins after the end', async (t) => {
  const work = new Work();
  const refreshes = new RefreshSchedule(work.run, AT_ONCE);
  refreshes.ask();
  refreshes.ask();
  refreshes.end();
  work.finish(true);
  await turns();
  refreshes.ask();
  t.is(work.begun, 1);
});
