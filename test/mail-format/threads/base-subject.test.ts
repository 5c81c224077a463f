// Tests the base subject: the rules of RFC 5256 §2.1 by examples, against a step-by-step version, and in linear time.

import fc from 'fast-check';
import { type BaseSubject, baseSubject } from '../../../src/mail-format/threads/base-subject.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const original = (text: string): BaseSubject => ({ text, isReplyOrForward: false });
const reply = (text: string): BaseSubject => ({ text, isReplyOrForward: true });

test('marks of replies, forwards and mailing lists are removed', (t) => {
  for (const [subject, expected] of [
    ['', original('')],
    ['hello', original('hello')],
    ['  hello \t world ', original('hello world')],
    ['Re: hello', reply('hello')],
    ['RE:hello', reply('hello')],
    ['re : re: Fwd: FW: hello', reply('hello')],
    ['Re[2]: hello', reply('hello')],
    ['Re [2] : hello', reply('hello')],
    ['[list] hello', original('hello')],
    ['[list] [other] Re: hello', reply('hello')],
    ['Re: [list] Re: hello', reply('hello')],
    ['[list]', original('[list]')],
    ['[a] [b]', original('[b]')],
    ['Re: [list]', reply('[list]')],
    ['hello (fwd)', reply('hello')],
    ['hello (FWD) (fwd) ', reply('hello')],
    ['[fwd: hello]', reply('hello')],
    ['[Fwd: Re: [list] hello (fwd)]', reply('hello')],
    ['[fwd: hello', original('[fwd: hello')],
    ['re', original('re')],
    ['reply: hello', original('reply: hello')],
    ['Re:', reply('')],
    ['fwd:(fwd)', reply('')],
    ['[blob hello', original('[blob hello')],
    ['[fwd: [b]', reply('[b')],
  ] as const)
    t.deepEqual(baseSubject(subject), expected, subject);
});

/** Follows the steps of the RFC on the text itself. */
function naive(subject: string): BaseSubject {
  let text = subject.replace(/[\t\r\n ]+/g, ' ');
  let isReplyOrForward = false;
  const remove = (pattern: RegExp, isMark: boolean): boolean => {
    const shorter = text.replace(pattern, '');
    if (shorter === text) return false;
    text = shorter;
    if (isMark) isReplyOrForward = true;
    return true;
  };
  for (;;) {
    while (remove(/\(fwd\)$/i, true) || remove(/ $/, false));
    for (;;) {
      if (remove(/^(?:\[[^[\]]*\] *)*(?:re|fwd?) *(?:\[[^[\]]*\] *)?:/i, true) || remove(/^ /, false)) continue;
      const rest = text.replace(/^\[[^[\]]*\] */, '');
      if (rest === text || rest === '') break;
      text = rest;
    }
    if (!/^\[fwd:.*\]$/i.test(text)) return { text, isReplyOrForward };
    isReplyOrForward = true;
    text = text.slice(5, -1);
  }
}

test('any subject gives what the steps of the RFC give', (t) => {
  const piece = fc.constantFrom(
    're',
    'Fwd',
    'fw',
    ':',
    ' ',
    '[',
    ']',
    '[x]',
    '(fwd)',
    '[fwd:',
    'hello',
    'ü',
    '\t',
    '(',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      t.deepEqual(baseSubject(pieces.join('')), naive(pieces.join('')), pieces.join(''));
    }),
    { numRuns: runs(5000) },
  );
});

test('long runs of marks are read once', (t) => {
  t.is(baseSubject('[a]'.repeat(200_000)).text, '[a]');
  t.is(baseSubject(`${'[fwd:'.repeat(100_000)}x${']'.repeat(100_000)}`).text, 'x');
  t.is(baseSubject(`${'re:'.repeat(200_000)}x${'(fwd)'.repeat(100_000)}`).text, 'x');
  t.is(baseSubject('['.repeat(300_000)).text.length, 300_000);
});
