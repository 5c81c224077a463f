// Tests what a form shows when its setting changes here and elsewhere: what is written here stays, the rest follows the server.
import fc from 'fast-check';
import { Merged } from '../../../../web/src/settings/following/merged.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const STORED = { subject: 'Away', text: 'Until Monday', isEnabled: false };

function opened() {
  const form = new Merged<typeof STORED>();
  form.take(STORED);
  return form;
}

test('what is written here stays, and the rest follows', (t) => {
  const form = opened();
  form.write({ text: 'Until Tuesday' });
  form.take({ ...STORED, subject: 'Gone', isEnabled: true });
  t.deepEqual(form.shown.value, { subject: 'Gone', text: 'Until Tuesday', isEnabled: true });
  t.false(form.isContested.value, 'nobody else has changed the text');
  form.take({ ...STORED, text: 'Until Friday' });
  t.is(form.shown.value?.text, 'Until Tuesday');
  t.true(form.isContested.value);
  form.yield();
  t.deepEqual(form.shown.value, { ...STORED, text: 'Until Friday' });
  t.false(form.isContested.value);
});

test('what the other window has written is the same: nothing is contested', (t) => {
  const form = opened();
  form.write({ text: 'Until Friday' });
  form.take({ ...STORED, text: 'Until Tuesday' });
  t.true(form.isContested.value);
  form.take({ ...STORED, text: 'Until Friday' });
  t.false(form.isContested.value);
});

test('the field with the focus stays, and follows when nothing was written in it', (t) => {
  const form = opened();
  form.hold('text');
  form.take({ ...STORED, text: 'Until Friday' });
  t.is(form.shown.value?.text, 'Until Monday');
  t.true(form.isContested.value);
  form.release();
  t.is(form.shown.value?.text, 'Until Friday');
  t.false(form.isContested.value);
  form.take(STORED);
  t.deepEqual(form.shown.value, STORED);
});

test('the field with the focus keeps what was saved and is written on', (t) => {
  const form = opened();
  form.hold('text');
  form.saved(form.write({ text: 'Until T' }));
  form.write({ text: 'Until Tue' });
  form.take({ ...STORED, text: 'Until T' });
  t.is(form.shown.value?.text, 'Until Tue');
  t.false(form.isContested.value, 'the server has what this window has saved');
  form.release();
  t.is(form.shown.value?.text, 'Until Tue');
});

test('the answer to a save may have another form', (t) => {
  const form = opened();
  form.hold('subject');
  form.saved(form.write({ subject: 'AWAY' }));
  form.take({ ...STORED, subject: 'away' });
  t.false(form.isContested.value);
  form.take({ ...STORED, subject: 'gone' });
  t.true(form.isContested.value);
});

test('members that mean the same are not replaced by each other', (t) => {
  const form = new Merged<{ text: string }>({ isSame: (one, other) => one.trim() === other.trim() });
  form.take({ text: 'a' });
  form.hold('text');
  form.write({ text: 'a\n' });
  form.take({ text: 'a' });
  t.deepEqual([form.shown.value, form.isContested.value], [{ text: 'a\n' }, false]);
});

const word = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ kind: fc.constant('take' as const), subject: word, text: word }),
  fc.record({ kind: fc.constant('write' as const), subject: word }),
  fc.record({ kind: fc.constant('save' as const) }),
  fc.record({ kind: fc.constant('yield' as const) }),
);

test('a member that was not written since the last save is always that of the server', (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const form = new Merged<{ subject: string; text: string }>();
      let stored = { subject: 'a', text: 'a' };
      form.take(stored);
      let written: string | undefined;
      for (const one of steps) {
        if (one.kind === 'take') {
          stored = { subject: one.subject, text: one.text };
          form.take(stored);
        } else if (one.kind === 'write') written = form.write({ subject: one.subject }).subject;
        else if (one.kind === 'save') {
          stored = form.shown.value!;
          form.saved(stored);
        } else form.yield();
        // What is stored by a save or taken back is written no more; neither is what the server has too.
        if (one.kind === 'save' || one.kind === 'yield' || written === stored.subject) written = undefined;
        const expected = { ...stored, ...(written !== undefined && { subject: written }) };
        t.deepEqual(form.shown.value, expected);
      }
    }),
    { numRuns: runs(500) },
  );
});
