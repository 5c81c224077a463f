import { availableProcessors } from '../../../src/node/config/processors.js';
import test from '../../support/test.js';

const files = (of: Readonly<Record<string, string>>) => (path: string) => {
  const text = of[path];
  if (text === undefined) throw new Error(`there is no ${path}`);
  return text;
};

test('without control groups it is what the scheduler gives', (t) => {
  t.is(availableProcessors(4, files({})), 4);
  t.true(availableProcessors() >= 1);
});

test('the quota of a container counts, a part of a processor as one', (t) => {
  const limited = (max: string) =>
    availableProcessors(8, files({ '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': max }));
  t.is(limited('200000 100000\n'), 2);
  t.is(limited('150000 100000\n'), 2);
  t.is(limited('10000 100000\n'), 1);
  t.is(limited('max 100000\n'), 8);
  t.is(limited('1600000 100000\n'), 8);
});

test('the strictest of the groups around the process counts', (t) => {
  const read = files({
    '/proc/self/cgroup': '12:cpuset:/x\n0::/system.slice/mansio.service\n',
    '/sys/fs/cgroup/system.slice/mansio.service/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/system.slice/cpu.max': '300000 100000\n',
  });
  t.is(availableProcessors(8, read), 3);
});

test('control groups of version 1', (t) => {
  const quota = (us: string) =>
    files({ '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': us, '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' });
  t.is(availableProcessors(8, quota('250000\n')), 3);
  t.is(availableProcessors(8, quota('-1\n')), 8);
});
