// Tests that the texts of a reply count in the memory of what is due.
import { DueMailMemory } from '../../../../src/actors/mailbox/state/due-mail-memory.js';
import type { DueMail } from '../../../../src/store/mailbox-rows.js';
import test from '../../../support/test.js';

const due = (reason?: string): DueMail => ({
  ...{ id: 'one', kind: 'reject', blob: 'blob', receivedAt: 0, sender: 'ann@far.test', recipient: null },
  ...{ targets: [], copy: null, isChecked: false, isQueued: false },
  ...(reason !== undefined && { further: { reject: { command: 'reject', reason } } }),
});

test('the texts of a reply count until its row is replaced or ends', (t) => {
  const memory = new DueMailMemory();
  memory.set('one', due());
  const plain = memory.octets;
  t.true(plain > 0);
  memory.set('two', due('x'.repeat(16_000)));
  t.true(memory.octets >= 2 * plain + 16_000);
  memory.set('two', due('x'));
  t.true(memory.octets < 2 * plain + 1_000);
  memory.delete('two');
  memory.delete('two');
  t.is(memory.octets, plain);
  memory.delete('one');
  t.is(memory.octets, 0);
});
