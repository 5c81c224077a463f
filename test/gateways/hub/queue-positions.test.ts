// Tests queue positions of emails: connections that follow them get the changes, and the mailbox is not asked in vain.

import pino from 'pino';
import { type Observable, Subject } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import type { Caller, ConnectionPart } from '../../../src/gateways/hub/methods.js';
import { JSON_PROTOCOL } from '../../../src/gateways/hub/protocols/json-protocol.js';
import { QueuePositions } from '../../../src/gateways/hub/queue-positions.js';
import { draftChanged, statusChanged } from '../../support/hub-fakes.js';
import test from '../../support/test.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const OTHER = '018f0000-0000-7000-8000-000000000002';

interface Positions {
  readonly positions: readonly {
    readonly outboundId: string;
    readonly ahead: number;
    readonly domain: string | null;
  }[];
  readonly againInMs: number | null;
}

/** `isHeld`: the mailbox answers only when the test calls `give`; else at once. */
function world(queuePositionMs = 1, isHeld = false) {
  const events$ = new Subject<readonly MailboxEvent[]>();
  const answers: (Positions | Error)[] = [];
  let asked = 0;
  let whenAsked = () => {};
  let whenGiven = () => {};
  const mailbox = {
    events$: (): Observable<readonly MailboxEvent[]> => events$,
    async ask() {
      asked++;
      setImmediate(() => whenAsked());
      while (isHeld && answers.length === 0) await new Promise<void>((resolve) => (whenGiven = resolve));
      const answer = answers.shift() ?? { positions: [], againInMs: null };
      if (answer instanceof Error) throw answer;
      return { reply: answer };
    },
  };
  const mailboxes = { of: () => mailbox } as unknown as Mailboxes;
  const log = pino({ level: 'silent' });
  const positions = new QueuePositions({ mailboxes, log, queuePositionMs, pauseBytes: 100 });
  return {
    positions,
    events$,
    answers,
    get asked() {
      return asked;
    },
    /** Answers the pending question to the mailbox. */
    async give(answer: Positions | Error) {
      answers.push(answer);
      whenGiven();
      await new Promise(setImmediate);
    },
    /** Resolves when the mailbox has been asked `count` times, and has answered unless the test holds answers. */
    async until(count: number) {
      while (asked < count) await new Promise<void>((resolve) => (whenAsked = resolve));
      await new Promise(setImmediate);
    },
  };
}

function connection(buffered = 0) {
  const frames: object[] = [];
  const parts: ConnectionPart[] = [];
  const caller: Caller = {
    id: 'c',
    accountId: ID,
    protocol: JSON_PROTOCOL,
    resumption: undefined,
    deliver(frame) {
      for (const message of Buffer.from(frame).toString().split('\u001e').slice(0, -1))
        frames.push(JSON.parse(message));
    },
    bufferedBytes: () => buffered,
    add: (part) => void parts.push(part),
  };
  const take = () => frames.splice(0).map((frame) => (frame as { arguments: unknown[] }).arguments[0]);
  const close = () => {
    for (const part of parts) part.end();
  };
  return { caller, take, close };
}

test('clients are sent positions that changed, while there are some', async (t) => {
  const { positions, give, events$, until } = world(1, true);
  const [one, slow] = [connection(), connection(101)];
  const at = (outboundId: string, ahead: number, domain: string | null = null) => ({ outboundId, ahead, domain });
  positions.follow(one.caller);
  positions.follow(slow.caller);
  await until(1);
  await give({ positions: [at(ID, 7), at(OTHER, 9)], againInMs: 1 });
  t.deepEqual(one.take(), [
    { id: ID, position: 7 },
    { id: OTHER, position: 9 },
  ]);
  await until(2);
  await give({ positions: [at(ID, 7), at(OTHER, 8)], againInMs: 1 });
  t.deepEqual(one.take(), [{ id: OTHER, position: 8 }]);
  const late = connection();
  positions.follow(late.caller);
  t.deepEqual(late.take(), [
    { id: ID, position: 7 },
    { id: OTHER, position: 8 },
  ]);
  await until(3);
  await give(new Error('the mailbox is away'));
  t.deepEqual([one.take(), slow.take()], [[], []]);
  // A change of outbound mail makes the mailbox be asked before the pause ends; other changes do not.
  events$.next([draftChanged(OTHER, true)]);
  events$.next([statusChanged(OTHER, 'Sending')]);
  await until(4);
  await give({ positions: [at(ID, 0, 'there.test')], againInMs: null });
  t.deepEqual(one.take(), [{ id: ID, position: 0, domain: 'there.test' }]);
  t.deepEqual(late.take(), [{ id: ID, position: 0, domain: 'there.test' }]);
  for (const { close } of [one, slow, late]) close();
  t.false(events$.observed);
});

test('changes that go on and on do not keep the mailbox from being asked', async (t) => {
  const { positions, events$, until } = world(20);
  const { caller, close } = connection();
  positions.follow(caller);
  const busy = setInterval(() => events$.next([statusChanged(ID, 'Sending')]), 1);
  t.teardown(() => clearInterval(busy));
  await until(3);
  close();
  t.pass();
});

test('the mailbox is asked when its events begin again: changes may have been missed', async (t) => {
  const { positions, answers, events$, until } = world();
  const { caller, take, close } = connection();
  positions.follow(caller);
  await until(1);
  answers.push({ positions: [{ outboundId: ID, ahead: 2, domain: null }], againInMs: null });
  // An empty array says that the stream of events is ready.
  events$.next([]);
  await until(2);
  t.deepEqual(take(), [{ id: ID, position: 2 }]);
  close();
});

test('nothing is asked when nothing is queued, or nobody follows', async (t) => {
  const idle = world();
  const { caller, take, close } = connection();
  idle.positions.follow(caller);
  await idle.until(1);
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.is(idle.asked, 1);
  t.deepEqual(take(), []);
  idle.answers.push({ positions: [], againInMs: 1 });
  idle.events$.next([statusChanged(ID, 'Sending')]);
  await idle.until(2);
  close();
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.true(idle.asked <= 3);
});
