// Tests the login guard: what failures cost whom, for how long, in how much memory, and what nodes tell each other.

import { type GuardLimits, LoginGuard } from '../../src/auth/login-guard.js';
import test from '../support/test.js';

const HERE = '192.0.2.1';
const THERE = '203.0.113.7';
const ALICE = ['alice@example.test'];

function setUp(limits: Partial<GuardLimits> = {}) {
  let now = 1;
  const guard = new LoginGuard({ delayMs: 10, ...limits }, () => now);
  /** Records a failure and returns its delay, or `limited`; its place is free again at once. */
  const fail = (address = HERE, names: readonly string[] = ALICE) => {
    const { isLimited, delayMs, done } = guard.refuse(address, names);
    done();
    return isLimited ? 'limited' : delayMs;
  };
  return {
    guard,
    fail,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

const times = <T>(count: number, act: () => T): T[] => Array.from({ length: count }, act);

test('delays grow with the failures of a network, whatever names they have', (t) => {
  const { fail } = setUp();
  let n = 0;
  t.deepEqual(
    times(7, () => fail(HERE, [`n${n++}@example.test`])),
    [10, 20, 30, 40, 50, 50, 50],
  );
  t.is(fail(THERE, ['other@example.test']), 10);
});

test('delays grow with the failures of a name, wherever they come from', (t) => {
  const { fail } = setUp();
  let n = 0;
  t.deepEqual(
    times(6, () => fail(`198.51.100.${n++}`, [n % 2 === 0 ? 'Alice+x@EXAMPLE.test' : 'alice@example.test'])),
    [10, 20, 30, 40, 50, 50],
  );
  t.is(fail(THERE, ['bob@example.test']), 10);
});

test('a network that fails too often is blocked for a time, and is then new', (t) => {
  const { guard, fail, pass } = setUp({ failuresPerNetwork: 3, windowMs: 1000, blockMs: 5000 });
  let n = 0;
  const anybody = (address = HERE) => fail(address, [`n${n++}@example.test`]);
  t.deepEqual(times(4, anybody), [10, 20, 30, 'limited']);
  t.is(guard.refuse(HERE, []).delayMs, 100, 'delayed for longer');
  pass(4999);
  t.is(anybody(), 'limited', 'which does not prolong the block');
  t.is(anybody(THERE), 10);
  pass(2);
  t.is(anybody(), 10);
});

test('few failures in a window do not add up', (t) => {
  const { fail, pass } = setUp({ failuresPerNetwork: 3, windowMs: 1000 });
  for (let i = 0; i < 5; i++) {
    t.deepEqual(
      times(3, () => fail()),
      [10, 20, 30],
    );
    pass(1001);
  }
});

test('of IPv6 the /64 counts', (t) => {
  const { fail } = setUp();
  t.is(fail('2001:db8::1', []), 10);
  t.is(fail('2001:db8::2', []), 20);
  t.is(fail('2001:db8:0:1::1', []), 10);
});

test('strangers block a name, but not those whom it is known of', (t) => {
  const { guard, fail, pass } = setUp({ failuresPerName: 3, windowMs: 1e9, blockMs: 1e9 });
  guard.admit(HERE, ALICE);
  let n = 0;
  const stranger = () => fail(`198.51.100.${n++}`);
  t.deepEqual(times(5, stranger), [10, 20, 30, 'limited', 'limited']);
  t.deepEqual(
    times(3, () => fail(HERE)),
    [10, 20, 30],
    'its own failures count here',
  );
  t.is(fail(HERE, ['bob@example.test']), 40, 'with another name it is a stranger');
  pass(30 * 86_400_000 + 1);
  for (let i = 0; i < 4; i++) stranger();
  t.is(fail(HERE), 'limited', 'forgotten after 30 days');
});

test('who is known at a network is not blocked for what its neighbours do', (t) => {
  const { guard, fail } = setUp({ failuresPerNetwork: 2 });
  guard.admit(HERE, ['Alice@Example.test']);
  const neighbour = () => fail(HERE, ['bob@example.test']);
  t.deepEqual(times(3, neighbour), [10, 20, 'limited']);
  t.is(fail(HERE), 40);
});

test('delayed replies have a bounded number of places: of all, a network, and a name', (t) => {
  const { guard } = setUp({ delays: 3, delaysPerHolder: 2 });
  const hold = (address: string, name: string) => guard.refuse(address, [name]);
  const delayed = [hold(HERE, 'a@example.test'), hold(HERE, 'b@example.test')];
  t.like(hold(HERE, 'c@example.test'), { isLimited: true, delayMs: 0 }, 'the network has its share');
  delayed.push(hold(THERE, 'a@example.test'));
  t.like(hold('198.51.100.1', 'a@example.test'), { isLimited: true, delayMs: 0 }, 'all places are taken');
  delayed.pop()!.done();
  t.like(hold(THERE, 'z@example.test'), { isLimited: false }, 'what was given back can be had');
  delayed[0]!.done();
  delayed[0]!.done();
  t.like(hold('198.51.100.2', 'y@example.test'), { isLimited: false });
  t.like(hold('198.51.100.3', 'x@example.test'), { isLimited: true }, 'a place is given back once');
});

test('nodes share failures, blocks and known addresses', (t) => {
  const [one, two] = [
    setUp({ failuresPerNetwork: 3, failuresPerName: 3 }),
    setUp({ failuresPerNetwork: 3, failuresPerName: 3 }),
  ];
  const share = () => {
    const notice = one.guard.takeNotice();
    if (notice !== undefined) two.guard.learn(JSON.parse(JSON.stringify(notice)));
    return notice;
  };
  one.guard.admit(HERE, ALICE);
  one.guard.recordFailure(THERE);
  times(3, () => one.fail(THERE));
  t.deepEqual(share(), {
    networks: [[THERE, 4]],
    names: [['alice@example.test', 3]],
    known: [[HERE, 'alice@example.test']],
  });
  t.is(share(), undefined, 'once');
  t.is(two.guard.takeNotice(), undefined, 'what was learned is not passed on');
  t.is(two.fail(THERE, ['bob@example.test']), 'limited');
  t.is(two.fail('198.51.100.1'), 'limited');
  t.is(two.fail(HERE), 10);
  one.guard.admit(HERE, ALICE);
  t.is(share(), undefined, 'who is known already is shared once a day');
  one.pass(86_400_001);
  one.guard.admit(HERE, ALICE);
  t.deepEqual(share()?.known, [[HERE, 'alice@example.test']]);
});

test('notices are bounded', (t) => {
  const { guard } = setUp();
  for (let i = 0; i < 2000; i++) {
    guard.admit(`10.1.${i >> 8}.${i & 255}`, [`n${i}@example.test`]);
    guard.refuse(`10.0.${i >> 8}.${i & 255}`, [`m${i}@example.test`]);
  }
  const { networks, names, known } = guard.takeNotice()!;
  t.deepEqual([networks.length, names.length, known.length], [500, 500, 500]);
});

test('memory is bounded: what was unused for longest is forgotten', (t) => {
  const { fail } = setUp({ mostKeys: 2, failuresPerNetwork: 1 });
  const from = (address: string) => fail(address, []);
  t.deepEqual([from(HERE), from(HERE)], [10, 'limited']);
  t.is(from(THERE), 10);
  t.is(from(HERE), 'limited');
  t.is(from('198.51.100.1'), 10);
  t.is(from(HERE), 'limited', 'in use, so kept');
  t.is(from(THERE), 10, 'forgotten');
});
