import { joinedTexts } from '../../../src/node/metrics/joined-texts.js';
import { createMetrics } from '../../../src/node/metrics/metrics.js';
import test from '../../support/test.js';

test('a family of several texts has one head, and its samples stand together', (t) => {
  const text = (process: number) =>
    [
      '# HELP a Help of a # TYPE b',
      '# TYPE a counter',
      `a{process="${process}"} 1`,
      '',
      '# HELP b Help of b',
      '# TYPE b histogram',
      `b_bucket{le="+Inf",process="${process}"} 2`,
      `b_count{process="${process}"} 2`,
      '',
    ].join('\n');
  t.is(
    joinedTexts([text(1), '', text(2)]),
    [
      '# HELP a Help of a # TYPE b',
      '# TYPE a counter',
      'a{process="1"} 1',
      'a{process="2"} 1',
      '',
      '# HELP b Help of b',
      '# TYPE b histogram',
      'b_bucket{le="+Inf",process="1"} 2',
      'b_count{process="1"} 2',
      'b_bucket{le="+Inf",process="2"} 2',
      'b_count{process="2"} 2',
      '',
    ].join('\n'),
  );
});

test('every series of a process names it, and nothing gets lost on the way', async (t) => {
  const roles = new Set(['api', 'mx', 'imap', 'pop3', 'submission', 'outbound', 'mailbox']);
  const texts = await Promise.all([1, 2].map((process) => createMetrics({ version: '1', roles, process }).text()));
  const samples = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const joined = joinedTexts(texts);
  t.deepEqual(samples(joined).sort(), texts.flatMap(samples).sort());
  for (const line of samples(joined)) t.regex(line, /process="[12]"/);
  const heads = joined.split('\n').filter((line) => line.startsWith('# TYPE '));
  t.is(heads.length, new Set(heads).size);
});
