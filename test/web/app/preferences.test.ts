// Tests that a choice is seen at once, that the last one counts, and that one that is refused is gone again.
import type { MansioClient, Preferences } from '../../../src/client/index.js';
import { PreferenceStore } from '../../../web/src/app/preferences.js';
import test from '../../support/test.js';

type Request = Pick<MansioClient, 'request'>;
const STORED = { theme: 'system', groupByDate: false } as Preferences;

/** A server that answers when it is told to. */
function server() {
  const asked: unknown[] = [];
  const answers: { resolve(value: undefined): void; reject(error: Error): void }[] = [];
  const request = (_method: string, _path: string, { body }: { readonly body: unknown }) => {
    asked.push(body);
    let resolve!: (value: undefined) => void;
    let reject!: (error: Error) => void;
    const promise = new Promise<undefined>((...both) => {
      [resolve, reject] = both;
    });
    answers.push({ resolve, reject });
    return promise;
  };
  return { asked, answers, client: { request } as unknown as Request };
}

test('a choice is shown at once, and stays when the server has stored it', async (t) => {
  const { asked, answers, client } = server();
  const store = new PreferenceStore(client);
  t.is(store.shown.value, undefined);
  store.stored.value = STORED;
  const saved = store.choose({ theme: 'dark' });
  t.is(store.shown.value?.theme, 'dark');
  await Promise.resolve();
  t.deepEqual(asked, [{ theme: 'dark' }]);
  answers[0]!.resolve(undefined);
  await saved;
  t.is(store.stored.value.theme, 'dark');
});

test('choices are sent one after the other; one that is refused is gone, the others stay', async (t) => {
  const { asked, answers, client } = server();
  const store = new PreferenceStore(client);
  store.stored.value = STORED;
  const refused = store.choose({ theme: 'dark' });
  const grouped = store.choose({ groupByDate: true });
  await Promise.resolve();
  t.deepEqual(asked, [{ theme: 'dark' }]);
  // An event of an earlier choice does not take the new one away.
  store.stored.value = { ...STORED, theme: 'light' };
  t.is(store.shown.value?.theme, 'dark');
  answers[0]!.reject(new Error('not now'));
  await t.throwsAsync(refused, { message: 'not now' });
  t.is(store.shown.value?.theme, 'light');
  t.true(store.shown.value?.groupByDate);
  await Promise.resolve();
  t.deepEqual(asked, [{ theme: 'dark' }, { groupByDate: true }]);
  answers[1]!.resolve(undefined);
  await grouped;
  t.true(store.stored.value.groupByDate);
});
