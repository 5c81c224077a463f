// Runs random operations of two clients of one account over IMAP, REST, POP3 and submission. After each one the placements are compared
// with those before: only those that the operation named have ended, its new messages are there without `\Deleted`, and a refused
// operation has changed nothing. So no message disappears without an EXPUNGE, CLOSE, DELETE or QUIT that names it.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { createAccount, storeOf } from '../../../dev/node-accounts.js';
import { amount } from '../../support/amounts.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { type Effect, type Folder, OPERATIONS, Session, type StoredEmail } from './two-clients-operations.js';

const HISTORIES = amount(12, 300);

const number = fc.nat(255);
const step = fc.record({
  client: fc.nat(1),
  operation: fc.oneof(...OPERATIONS.map(([weight], i) => ({ weight, arbitrary: fc.constant(i) }))),
  numbers: fc.tuple(number, number, number),
});

const placeOf = ({ folderId, uid, emailId }: StoredEmail) => `${folderId} ${uid} ${emailId}`;

/** Returns the copies in Sent that the operation may have replaced by the client's own messages. */
function replaced(before: readonly StoredEmail[], lost: readonly StoredEmail[], { replaces = [] }: Effect) {
  const inSent = new Set(before.filter(({ role }) => role === 'sent').map(({ emailId }) => emailId));
  const copies = new Set(
    lost
      .filter(({ origin, emailId }) => origin === 'submitted' && inSent.has(emailId))
      .filter(({ messageId }) => replaces.includes(messageId ?? ''))
      .map(({ emailId }) => emailId),
  );
  return copies.size <= replaces.length ? copies : new Set<string>();
}

function check(
  t: ExecutionContext,
  name: string,
  states: readonly StoredEmail[][],
  effect: Effect,
  folders: Folder[],
): void {
  const [before, after] = states as [StoredEmail[], StoredEmail[]];
  const [was, is] = [new Set(before.map(placeOf)), new Set(after.map(placeOf))];
  const lost = before.filter((one) => !is.has(placeOf(one)));
  const came = after.filter((one) => !was.has(placeOf(one)));
  const about = `${name} ${JSON.stringify({ effect, lost, came })}`;
  if (!effect.isOk) {
    t.deepEqual([lost, came], [[], []], `refused: ${about}`);
    return;
  }
  const copies = replaced(before, lost, effect);
  const mayEnd = new Set(effect.mayEnd.map(placeOf));
  const unnamed = lost.filter((one) => !mayEnd.has(placeOf(one)) && !copies.has(one.emailId));
  t.deepEqual(unnamed, [], `ended unnamed: ${about}`);
  const ended = new Set(lost.map(placeOf));
  t.true(
    (effect.ends ?? []).every((one) => ended.has(placeOf(one))),
    `still there: ${about}`,
  );
  const idOf = (folder: string) =>
    folders.find(({ id, path }) => id === folder || path.toLowerCase() === folder.toLowerCase())?.id;
  const wanted = effect.comes.map(([folder, subject]) => `${idOf(folder)} ${subject}`);
  const rest = came.map(({ folderId, subject }) => `${folderId} ${subject}`);
  for (const one of wanted) {
    t.true(rest.includes(one), `missing ${one}: ${about}`);
    rest.splice(rest.indexOf(one), 1);
  }
  // The new message takes the folders and labels of a replaced copy or a changed draft.
  const followed = new Set([...lost].map(({ folderId }) => folderId));
  t.true(
    rest.every((one) => followed.has(one.split(' ')[0]!) || name.startsWith('renameInbox')),
    `more than was named: ${about}`,
  );
}

test('no message of an account disappears without an operation of one of its clients that names it', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_ALLOW_PLAINTEXT_AUTH: 'true' });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  await createAccount(sql, 'bob@example.test');
  const history = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
    const account = await createAccount(sql, `${randomUUID()}@example.test`, ['app', 'smtp']);
    const clients = [new Session(node, account, sql), new Session(node, account, sql)];
    for (const client of clients) await client.login();
    await clients[0]!.isOk('CREATE A');
    await clients[0]!.isOk('CREATE B');
    for (const { client, operation, numbers } of steps) {
      const session = clients[client]!;
      const before = await session.stored();
      const run = OPERATIONS[operation]![1];
      const effect = await run(session, before, numbers);
      if (effect === undefined) continue;
      check(t, run.name, [before, await session.stored()], effect, await session.folders());
    }
    for (const { imap } of clients) imap.socket.destroy();
  });
  await fc.assert(history, { numRuns: HISTORIES, endOnFailure: true });
});
