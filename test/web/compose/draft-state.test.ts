// Tests the way of a draft: nothing that was written is taken for saved, saves never overlap, and a send waits for the save before it.
import fc from 'fast-check';
import {
  type DraftEvent,
  type DraftState,
  draftAfter,
  isUnsaved,
  newDraftState,
  nextStep,
  retryDelay,
  saveDelay,
} from '../../../web/src/compose/draft-state.js';
import test from '../../support/test.js';

const after = (...events: readonly DraftEvent[]): DraftState => events.reduce(draftAfter, newDraftState());
const CHANGED = { type: 'changed' } as const;
const SAVE = { type: 'saveBegan' } as const;
const SAVED = { type: 'saved', draftId: 'd', etag: '"1"' } as const;
const WISH = { type: 'sendWished', wish: { sendAt: null } } as const;

test('a change is saved, and a change during the save is saved after it', (t) => {
  t.is(nextStep(after()), 'rest');
  t.is(nextStep(after(CHANGED)), 'save');
  t.is(nextStep(after(CHANGED, SAVE)), 'wait');
  t.like(after(CHANGED, SAVE, SAVED), { phase: 'saved', draftId: 'd', etag: '"1"' });
  const late = after(CHANGED, SAVE, CHANGED, SAVED);
  t.like(late, { phase: 'dirty', etag: '"1"' });
  t.true(isUnsaved(late));
  t.false(isUnsaved(draftAfter(draftAfter(late, SAVE), SAVED)));
});

test('a send waits for the network, unless it is withdrawn', (t) => {
  const waiting = after(CHANGED, WISH, SAVE, { type: 'unreachable' });
  t.like(waiting, { phase: 'offline', wish: { sendAt: null } });
  t.is(nextStep(waiting), 'wait');
  const retried = draftAfter(waiting, { type: 'retried' });
  t.is(nextStep(draftAfter(draftAfter(retried, SAVE), SAVED)), 'send');
  const withdrawn = draftAfter(waiting, { type: 'sendWithdrawn' });
  t.like(withdrawn, { phase: 'offline', wish: null });
  t.is(nextStep([{ type: 'retried' } as const, SAVE, SAVED].reduce(draftAfter, withdrawn)), 'rest');
  t.not(draftAfter(retried, { type: 'sendWithdrawn' }).wish, null, 'it may be under way');
});

test('a send follows the save of everything that was written', (t) => {
  t.is(nextStep(after(CHANGED, SAVE, SAVED, WISH)), 'send');
  t.is(nextStep(after(CHANGED, WISH)), 'save');
  t.is(nextStep(after(CHANGED, SAVE, CHANGED, WISH, SAVED)), 'save');
  t.is(nextStep(after(CHANGED, SAVE, WISH, SAVED)), 'send');
  // An empty window is saved, so that the server can say what is missing.
  t.is(nextStep(after(WISH)), 'save');
  const sent = after(CHANGED, SAVE, SAVED, WISH, { type: 'sendBegan' }, CHANGED, {
    type: 'sent',
    outboundId: 'd',
    sendAt: null,
  });
  t.like(sent, { phase: 'sent', wish: null, sent: { outboundId: 'd', sendAt: null } });
  t.is(nextStep(sent), 'rest');
  t.false(isUnsaved(sent));
  const undone = draftAfter(sent, { type: 'undone', draftId: 'd', etag: '"2"' });
  t.like(undone, { phase: 'saved', etag: '"2"', sent: null });
  t.is(nextStep(draftAfter(undone, CHANGED)), 'save');
});

test('a save without an answer is tried again with what stands there then, ever later', (t) => {
  const offline = after(CHANGED, WISH, SAVE, { type: 'unreachable' }, CHANGED);
  t.like(offline, { phase: 'offline', wish: { sendAt: null } });
  t.is(nextStep(offline), 'wait');
  t.is(nextStep(draftAfter(offline, { type: 'retried' })), 'save');
  t.deepEqual(
    [1, 2, 3, 20].map((failures) => retryDelay({ ...offline, failures })),
    [1_000, 2_000, 4_000, 30_000],
  );
});

test('a draft that was made without an answer is taken for this one, and what was written since is saved', (t) => {
  const found = after(CHANGED, SAVE, { type: 'unreachable' }, CHANGED, { type: 'retried' }, SAVE, {
    type: 'found',
    draftId: 'd',
    etag: '"1"',
  });
  t.like(found, { phase: 'dirty', draftId: 'd', etag: '"1"' });
  t.true(isUnsaved(found));
});

test('a refusal waits for a change or another try, and ends the wish to send', (t) => {
  const failed = after(CHANGED, WISH, SAVE, { type: 'refused', problem: 'no' });
  t.like(failed, { phase: 'failed', problem: 'no', wish: null });
  t.true(isUnsaved(failed));
  t.like(draftAfter(failed, CHANGED), { phase: 'dirty', problem: null });
  t.is(nextStep(draftAfter(failed, WISH)), 'save');
});

test('a conflict waits for a decision, whatever is written meanwhile, and both decisions go on', (t) => {
  const conflict = after(CHANGED, SAVE, { type: 'conflicted' }, CHANGED, WISH);
  t.like(conflict, { phase: 'conflict', wish: null });
  t.is(nextStep(conflict), 'wait');
  const mine = draftAfter({ ...conflict, draftId: 'd' }, { type: 'keptMine', etag: '"9"' });
  t.like(mine, { phase: 'dirty', draftId: 'd', etag: '"9"' });
  t.like(draftAfter({ ...conflict, draftId: 'd' }, { type: 'keptMine', etag: null }), {
    phase: 'dirty',
    draftId: null,
  });
  const theirs = draftAfter(conflict, { type: 'tookTheirs', draftId: 'd', etag: '"9"' });
  t.like(theirs, { phase: 'saved', etag: '"9"' });
  t.false(isUnsaved(theirs));
  t.like(after(CHANGED, SAVE, { type: 'vanished' }, CHANGED), { phase: 'gone' });
});

test('a change waits for a pause, but never long', (t) => {
  t.deepEqual([0, 300, 700, 2_000].map(saveDelay), [400, 400, 200, 0]);
});

test('whatever happens: one request at a time, and saved is what was sent', (t) => {
  const answers = fc.constantFrom<DraftEvent>(
    SAVED,
    { type: 'unreachable' },
    { type: 'refused', problem: 'x' },
    { type: 'conflicted' },
  );
  const acts = fc.constantFrom<DraftEvent>(CHANGED, WISH, { type: 'retried' }, { type: 'keptMine', etag: '"5"' });
  fc.assert(
    fc.property(fc.array(fc.tuple(acts, answers, fc.boolean()), { maxLength: 40 }), (rounds) => {
      let state = newDraftState();
      let [underWay, server, written] = [-1, 0, 0];
      const apply = (event: DraftEvent) => {
        state = draftAfter(state, event);
      };
      for (const [act, answer, isAnswered] of rounds) {
        if (act.type !== 'keptMine' || state.phase === 'conflict') apply(act);
        if (act.type === 'changed' && state.phase !== 'sent') written = state.revision;
        if (nextStep(state) === 'save') {
          t.is(underWay, -1);
          underWay = state.revision;
          apply(SAVE);
        }
        if (underWay >= 0 && isAnswered) {
          if (answer.type === 'saved') server = underWay;
          underWay = -1;
          apply(answer);
        }
        if (nextStep(state) === 'send') t.true(server >= written);
        if (!isUnsaved(state)) t.true(server >= written);
      }
    }),
  );
});
