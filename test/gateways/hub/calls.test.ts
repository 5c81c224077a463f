// Tests calls of hub methods: the first answer counts, a call without an id gets none, and a method that fails refuses its call.

import { carryOut } from '../../../src/gateways/hub/calls.js';
import type { Caller, HubMethod } from '../../../src/gateways/hub/methods.js';
import {
  type CallCompletion,
  INVOCATION,
  STREAM_INVOCATION,
} from '../../../src/gateways/hub/protocols/hub-messages.js';
import { JSON_PROTOCOL } from '../../../src/gateways/hub/protocols/json-protocol.js';
import { recordingLog } from '../../support/hub-fakes.js';
import test from '../../support/test.js';

const caller: Caller = {
  id: 'c1',
  accountId: 'account-1',
  protocol: JSON_PROTOCOL,
  resumption: undefined,
  deliver: () => {},
  bufferedBytes: () => 0,
  add: () => {},
};

/** Calls a method; returns the completions, which grow as they arrive. */
function called(method: HubMethod, { invocationId = '1' as string | null, type = INVOCATION, target = 'M' } = {}) {
  const completions: CallCompletion[] = [];
  const { log, lines } = recordingLog();
  const wanted = invocationId === null ? {} : { invocationId };
  const message = { type, target, arguments: [1, 'a'], ...wanted } as Parameters<typeof carryOut>[2];
  carryOut(new Map([['M', method]]), caller, message, (completion) => completions.push(completion), log);
  return { completions, lines };
}

test('a method gets its arguments and answers, now or later; the first answer counts', async (t) => {
  const { completions } = called((connection, call) => {
    t.is(connection, caller);
    call.answer(call.args);
    call.answer('again');
    call.refuse('no');
  });
  t.deepEqual(completions, [{ type: 3, invocationId: '1', result: [1, 'a'] }]);
  let answerLater = () => {};
  const later = called((_, call) => {
    answerLater = () => call.refuse('Not now.');
  });
  t.deepEqual(later.completions, []);
  answerLater();
  t.deepEqual(later.completions, [{ type: 3, invocationId: '1', error: 'Not now.' }]);
});

test('who wants no answer gets none', (t) => {
  let calls = 0;
  const { completions } = called(
    (_, call) => {
      calls++;
      call.answer(1);
    },
    { invocationId: null },
  );
  t.is(calls, 1);
  t.deepEqual(completions, []);
});

test('a method that throws or rejects refuses its call, and the log has the reason', async (t) => {
  const methods: HubMethod[] = [
    () => {
      throw new Error('broken');
    },
    () => Promise.reject(new Error('broken')),
  ];
  for (const method of methods) {
    const { completions, lines } = called(method);
    await Promise.resolve();
    t.deepEqual(completions, [{ type: 3, invocationId: '1', error: 'The call could not be carried out.' }]);
    t.like(lines, [{ level: 50, method: 'M', connectionId: 'c1', accountId: 'account-1' }]);
  }
});

test('an unknown name is refused with the names there are, and so is a stream', (t) => {
  for (const options of [{ target: 'm' }, { target: 'toString' }, { type: STREAM_INVOCATION }]) {
    const { completions } = called(() => t.fail(), options);
    t.regex(completions[0]?.error ?? '', /^Unknown hub method '.+': this hub has none to call but 'M'\.$/);
  }
});
