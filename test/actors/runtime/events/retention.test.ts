// Tests when the log can be read on from a position.

import { isKept } from '../../../../src/actors/runtime/events/retention.js';
import { EVENT_LOG_AGE_MS, EVENT_LOG_LENGTH } from '../../../../src/store/events.js';
import test from '../../../support/test.js';

const NOW = Date.UTC(2026, 4, 1);

test('what comes after a position is kept as long as neither age nor length of the log can have taken it', (t) => {
  t.true(isKept({ seq: 0, at: NOW }, 0, NOW));
  t.true(isKept({ seq: 7, at: NOW - 1000 }, 9, NOW));
  t.true(isKept({ seq: 7, at: NOW - EVENT_LOG_AGE_MS / 2 }, 9, NOW));
  t.true(isKept({ seq: 7, at: NOW + 5_000 }, 9, NOW), 'clocks differ');
  t.true(isKept({ seq: 10, at: NOW }, 10 + EVENT_LOG_LENGTH / 2, NOW));
  t.false(isKept({ seq: 7, at: NOW - EVENT_LOG_AGE_MS }, 9, NOW), 'too old');
  t.false(isKept({ seq: 10, at: NOW }, 10 + EVENT_LOG_LENGTH, NOW), 'too many since');
});

test('a position that the log never had is not kept', (t) => {
  t.false(isKept({ seq: 10, at: NOW }, 9, NOW));
  t.false(isKept({ seq: 7, at: NOW + 86_400_000 }, 9, NOW));
});
