// Tests what QUIT sends to the owner of a maildrop with very many messages.

import { Maildrop } from '../../../src/gateways/pop3/maildrop.js';
import test from '../../support/test.js';

interface Asked {
  readonly name: string;
  readonly payload: { readonly uids: [number, number][]; readonly isLast: boolean };
}

function maildropOf(count: number) {
  const asked: Asked[] = [];
  const ref = {
    async ask(name: string, payload: Asked['payload']) {
      asked.push({ name, payload });
      return { reply: { kind: 'open', isComplete: true } };
    },
  };
  const uids = Uint32Array.from({ length: count }, (_, i) => i + 1);
  const columns = { uids, sizes: new Uint32Array(count), ids: new Uint32Array(4 * count) };
  return { asked, maildrop: new Maildrop(ref as never, 's', 'folder', columns) };
}

test('every second of many messages is deleted with few ranges at once, and the lock is freed with the last', async (t) => {
  const { asked, maildrop } = maildropOf(50_000);
  for (let number = 49_999; number > 0; number -= 2) maildrop.delete(number);
  t.true(await maildrop.quit());
  t.deepEqual(
    asked.map(({ name, payload }) => [name, payload.uids.length, payload.isLast]),
    [
      ['quitMaildrop', 10_000, false],
      ['quitMaildrop', 10_000, false],
      ['quitMaildrop', 5_000, true],
    ],
  );
  t.deepEqual(
    asked.flatMap(({ payload }) => payload.uids),
    Array.from({ length: 25_000 }, (_, i) => [2 * i + 1, 2 * i + 1]),
  );
});

test('neighbours are deleted as one range', async (t) => {
  const { asked, maildrop } = maildropOf(30_000);
  for (let number = 1; number <= 30_000; number++) maildrop.delete(number);
  t.true(await maildrop.quit());
  t.deepEqual(asked, [
    { name: 'quitMaildrop', payload: { sessionId: 's', uids: [[1, 30_000]], isLast: true } as never },
  ]);
});
