// Tests runs of Sieve scripts: actions, the implicit keep, faults and bounds.
import test from '../../support/test.js';
import { outcome, resultOf } from './running.js';

test('a message is kept unless the script says otherwise', (t) => {
  t.deepEqual(outcome(''), ['keep']);
  t.deepEqual(outcome('discard;'), []);
  t.deepEqual(outcome('discard; keep;'), ['keep']);
  t.deepEqual(outcome('require "fileinto"; fileinto "Lists";'), ['fileinto Lists']);
  t.deepEqual(outcome('require "fileinto"; fileinto "Lists"; keep;'), ['fileinto Lists', 'keep']);
  t.deepEqual(outcome('require ["fileinto", "copy"]; fileinto :copy "Lists";'), ['fileinto Lists', 'keep']);
  t.deepEqual(outcome('redirect "Anna <a@Example.org>"; redirect "A@example.org";'), ['redirect a@example.org']);
  t.deepEqual(outcome('require "copy"; redirect :copy "a@example.org";'), ['redirect a@example.org', 'keep']);
  t.deepEqual(outcome('require "reject"; reject "Go away";'), ['reject Go away']);
  t.true(resultOf('').actions.every((action) => action.type === 'keep' && action.isImplicit));
});

test('stop ends the script, and only the branch that holds runs', (t) => {
  const script = (a: string, b: string) =>
    `require "fileinto"; if ${a} { fileinto "1"; stop; } elsif ${b} { fileinto "2"; } else { fileinto "3"; } fileinto "4";`;
  t.deepEqual(outcome(script('true', 'true')), ['fileinto 1']);
  t.deepEqual(outcome(script('false', 'true')), ['fileinto 2', 'fileinto 4']);
  t.deepEqual(outcome(script('false', 'false')), ['fileinto 3', 'fileinto 4']);
});

test('a fault keeps the message and does nothing else', (t) => {
  const script = 'require ["fileinto", "reject"];\nfileinto "Lists";\n reject "no";';
  const { actions, fault } = resultOf(script);
  t.deepEqual(actions, [{ type: 'keep', isImplicit: true, flags: [] }]);
  t.deepEqual(fault, { line: 3, column: 2, message: 'reject cannot follow other actions' });
});
