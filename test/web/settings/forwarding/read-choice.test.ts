// Tests which reads are as new as a choice that is saved meanwhile.

import { ReadChoice } from '../../../../web/src/settings/forwarding/read-choice.js';
import test from '../../../support/test.js';

test('a read that began before a change, or during it, shows nothing', async (t) => {
  const choice = new ReadChoice();
  t.true(choice.read()());
  const before = choice.read();
  let resolve = (_isSaved: boolean) => {};
  const promise = new Promise<boolean>((done) => {
    resolve = done;
  });
  const changed = choice.change(() => promise);
  const during = choice.read();
  t.false(before());
  t.false(during());
  resolve(true);
  t.true(await changed);
  t.false(before());
  t.false(during());
  t.true(choice.read()());
  await t.throwsAsync(choice.change(() => Promise.reject(new Error('away'))));
  t.true(choice.read()(), 'after a failure as well');
});
