// Tests the daily run on a time of its own and a real store: the chosen node runs the checks once a day, and all nodes show the report.
import { setImmediate as turn } from 'node:timers/promises';
import { type DailyDoctor, doctorCheck, startDailyDoctor } from '../../../src/node/doctor/daily-doctor.js';
import type { Finding } from '../../../src/node/doctor/finding.js';
import { postgresReports } from '../../../src/store/postgres/settings.js';
import { migratedSql } from '../../support/database/embedded-database.js';
import test from '../../support/test.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const OK: Finding = { check: 'spf', subject: 'example.org', status: 'ok', detail: 'fine', fix: null };
const FAIL: Finding = { ...OK, check: 'mx', status: 'fail', detail: 'none', fix: 'example.org. IN MX 10 mx.' };

/** Timers that fire only when the test says so. */
class Clock {
  now = 1_000_000_000;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  readonly timing = {
    now: () => this.now,
    after: (ms: number, run: () => void) => {
      const timer = { at: this.now + ms, run };
      this.#timers.add(timer);
      return () => this.#timers.delete(timer);
    },
  };

  get waiting(): number {
    return this.#timers.size;
  }

  pass(ms: number): void {
    this.now += ms;
    for (const timer of [...this.#timers]) {
      if (timer.at > this.now || !this.#timers.delete(timer)) continue;
      timer.run();
    }
  }
}

test('one node runs the checks once a day, and all nodes show what they found', async (t) => {
  const sql = await migratedSql(t, { max: 2 });
  const clock = new Clock();
  const runs = { a: 0, b: 0 };
  const warned: unknown[] = [];
  let chosen: 'a' | 'b' = 'a';
  const start = (name: 'a' | 'b'): DailyDoctor =>
    startDailyDoctor({
      reports: postgresReports(sql),
      isChosen: () => name === chosen,
      async examine() {
        runs[name]++;
        return [OK, FAIL];
      },
      now: () => clock.now,
      log: { info: () => undefined, warn: (data: object) => void warned.push(data) } as never,
      timing: clock.timing,
    });
  const doctors = [start('a'), start('b')];
  t.teardown(async () => void (await Promise.all(doctors.map((doctor) => doctor.stop()))));
  /** Lets both look once. */
  const look = async (ms: number) => {
    clock.pass(ms);
    while (clock.waiting < doctors.length) await turn();
  };
  t.like(await doctorCheck(doctors[1]!).run(), { status: 'Healthy' });
  await look(MINUTE_MS);
  await look(10 * MINUTE_MS);
  t.deepEqual(runs, { a: 1, b: 0 });
  t.deepEqual(warned, [{ check: 'mx', subject: 'example.org', detail: 'none', fix: 'example.org. IN MX 10 mx.' }]);
  for (const doctor of doctors) {
    const { status, description, data } = await doctorCheck(doctor).run();
    t.is(status, 'Degraded');
    t.regex(description!, /^1 of 2 daily checks failed/);
    t.like(data, { ok: 1, warn: 0, fail: 1 });
  }
  chosen = 'b';
  await look(HOUR_MS);
  t.deepEqual(runs, { a: 1, b: 0 });
  await look(24 * HOUR_MS);
  t.deepEqual(runs, { a: 1, b: 1 });
});
