// Implements the meter of the junk filter's lessons with prom-client.
import type { JunkLearningOptions } from '../../actors/mailbox/background/junk-learning.js';
import type { Families } from './families.js';

const OUTCOMES = ['learnt', 'known', 'gone', 'failed'] as const;

export function junkMeter(families: Families): JunkLearningOptions['meter'] {
  const lessons = families.counter(
    'junk_lessons_total',
    'Messages that users teach the junk filter or rspamd; kind: junk or ham; outcome: learnt, known before, gone (deleted), or failed.',
    ['kind', 'outcome'],
  );
  for (const kind of ['junk', 'ham']) for (const outcome of OUTCOMES) lessons.inc({ kind, outcome }, 0);
  return { taught: (isJunk, outcome) => lessons.inc({ kind: isJunk ? 'junk' : 'ham', outcome }) };
}
