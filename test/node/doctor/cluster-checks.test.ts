// Tests nodes, queue and unclaimed mail.
import { nodesCheck, queueCheck, unclaimedCheck } from '../../../src/node/doctor/cluster-checks.js';
import test from '../../support/test.js';
import { NODE, subjectFor } from './subjects.js';

test('nodes: none, of several versions, silent', async (t) => {
  const of = async (nodes: Parameters<typeof subjectFor>[1] & object) =>
    (await nodesCheck.run((await subjectFor(t, nodes)).subject)).map(({ subject, status }) => `${subject} ${status}`);
  t.deepEqual(await of({}), ['one ok']);
  t.deepEqual(await of({ nodes: [] }), ['nodes fail']);
  t.deepEqual(
    await of({
      nodes: [
        { ...NODE, version: '0.10.0' },
        { ...NODE, id: 'two' },
      ],
    }),
    ['one ok', 'two warn'],
  );
  const gone = { ...NODE, id: 'two', expired: true, silentMs: 3_600_000 };
  t.deepEqual(await of({ nodes: [NODE, gone] }), ['one ok', 'two warn']);
  t.deepEqual(await of({ nodes: [{ ...NODE, state: 'cut off' }] }), ['one warn']);
});

test('queue: late, mail that is in no mailbox, and restored mail that waits', async (t) => {
  const of = async (overdue: number, inbound: number | null, awaiting = 0) => {
    const { subject } = await subjectFor(t, {
      store: {
        overdueMs: async () => overdue,
        inboundOldestMs: async () => inbound,
        awaitingRelease: async () => awaiting,
      },
    });
    return (await queueCheck.run(subject)).map(({ status }) => status);
  };
  t.deepEqual(await of(0, null), ['ok', 'ok']);
  t.deepEqual(await of(90_000, 5_000), ['warn', 'ok']);
  t.deepEqual(await of(7_200_000, 90_000), ['fail', 'fail']);
  t.deepEqual(await of(0, null, 3), ['ok', 'ok', 'warn']);
});

test('unclaimed mail is counted', async (t) => {
  const mail = (messages: number) => ({
    address: `a${messages}@example.org`,
    messages,
    bytes: messages * 500,
    newest: null,
  });
  const { subject } = await subjectFor(t, { store: { unclaimed: async () => [mail(2), mail(0), mail(3)] } });
  t.like(await unclaimedCheck.run(subject), [
    {
      status: 'warn',
      detail: '5 messages (2.5 kB) for 2 unknown addresses, kept for 30 days',
      fix: 'mansio unclaimed list',
    },
  ]);
  const { subject: nothing } = await subjectFor(t, { store: { unclaimed: async () => [mail(0)] } });
  t.like(await unclaimedCheck.run(nothing), [{ status: 'ok', fix: null }]);
});
