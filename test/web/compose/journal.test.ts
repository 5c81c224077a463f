// Tests what the browser keeps of open windows: only those of tabs that are gone are taken over, and damage is no obstacle.
import { Journal, type KeptWindow } from '../../../web/src/compose/journal.js';
import { NO_RECIPIENTS } from '../../../web/src/compose/recipients.js';
import test from '../../support/test.js';

class MemoryStorage {
  readonly #items = new Map<string, string>();
  room = Number.POSITIVE_INFINITY;
  get length(): number {
    return this.#items.size;
  }
  key = (index: number): string | null => [...this.#items.keys()][index] ?? null;
  getItem = (key: string): string | null => this.#items.get(key) ?? null;
  setItem = (key: string, value: string): void => {
    if (value.length > this.room) throw new Error('QuotaExceededError');
    this.#items.set(key, value);
  };
  removeItem = (key: string): void => void this.#items.delete(key);
}

const kept = (windowId: string, tabId: string): KeptWindow => ({
  windowId,
  tabId,
  draftId: 'd1',
  etag: '"1"',
  isMinimised: false,
  original: { emailId: 'e1', how: 'repliesTo' },
  unsaved: {
    from: null,
    recipients: NO_RECIPIENTS,
    typed: { To: 'zoë', Cc: '', Bcc: '' },
    subject: 'Zoë 💌',
    html: '<b>x</b>',
    headers: [['References', '<1@a.test>']],
  },
  lostFiles: ['photo.jpg'],
  sent: null,
  discardAt: null,
});

test('windows of tabs that are gone come back as they were; those of living tabs and other accounts stay', (t) => {
  const storage = new MemoryStorage();
  const journal = new Journal(storage, 'ann');
  const [first, second] = [kept('w1', 'gone'), kept('w2', 'living')];
  for (const window of [second, first]) t.true(journal.keep(window));
  new Journal(storage, 'bob').keep(kept('w3', 'gone'));
  storage.setItem('mansio.compose.ann.w4', '{"damaged"');
  storage.setItem('mansio.compose.ann.w5', '[1]');
  t.deepEqual(journal.orphans(new Set(['living'])), [first]);
  t.is(storage.length, 3);
  journal.forget('w1');
  t.deepEqual(journal.orphans(new Set()), [second]);
});

test('a browser without room keeps what it had', (t) => {
  const storage = new MemoryStorage();
  const journal = new Journal(storage, 'ann');
  t.true(journal.keep(kept('w1', 'a')));
  storage.room = 10;
  t.false(journal.keep({ ...kept('w1', 'a'), isMinimised: true }));
  t.deepEqual(journal.orphans(new Set()), [kept('w1', 'a')]);
});
