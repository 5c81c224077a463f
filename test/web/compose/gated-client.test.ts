// Tests the client of compose windows, which waits while nobody is signed in.
import { Conflict, type MansioClient, NetworkFault, Refusal } from '../../../src/client/index.js';
import { gatedClient } from '../../../web/src/compose/gated-client.js';
import test from '../../support/test.js';

function setUp(answer: () => Promise<unknown>) {
  const asked: string[] = [];
  const ask = (name: string) => () => {
    asked.push(name);
    return answer();
  };
  const names = ['create', 'read', 'update', 'delete', 'send'] as const;
  const drafts = Object.fromEntries(names.map((name) => [name, ask(name)]));
  const client = { drafts, request: ask('request'), close() {} } as unknown as MansioClient;
  const gate = { isOpen: true };
  const gated = gatedClient(client, () => gate.isOpen);
  const tasks = [
    ...names.map((name) => () => (gated.drafts[name] as () => Promise<unknown>)()),
    gated.request as never,
  ];
  return { asked, gate, gated, tasks: tasks as readonly (() => Promise<unknown>)[] };
}

test('nothing is sent while nobody is signed in, and everything afterwards', async (t) => {
  const { asked, gate, tasks } = setUp(async () => 'done');
  gate.isOpen = false;
  for (const task of tasks) await t.throwsAsync(task(), { instanceOf: NetworkFault });
  t.deepEqual(asked, []);
  gate.isOpen = true;
  for (const task of tasks) t.is(await task(), 'done');
  t.deepEqual(asked, ['create', 'read', 'update', 'delete', 'send', 'request']);
});

test('the end of the session is as no answer; other refusals stay what they are', async (t) => {
  const { tasks } = setUp(() => Promise.reject(new Refusal(401, {})));
  for (const task of tasks) await t.throwsAsync(task(), { instanceOf: NetworkFault });
  const other = setUp(() => Promise.reject(new Conflict(412, {})));
  for (const task of other.tasks) await t.throwsAsync(task(), { instanceOf: Conflict });
});
