// Tests how the page reads what an OpenID provider sends the browser back with, and what it tells the reader.
import { NetworkFault, Refusal } from '../../../src/client/index.js';
import { faultOf, faultOfAnswer, goesOnAt, returnedWith } from '../../../web/src/sign-in/oidc-answer.js';
import test from '../../support/test.js';

const begun = { state: 'S', from: '/archive?x=1' };
const at = (search: string, pathname = '/sign-in/oidc') => returnedWith({ pathname, search }, begun);
const NOTHING = { kind: 'refused', code: '', description: '' } as const;

test('an answer is the code, the state and the issuer', (t) => {
  t.deepEqual(at('?code=C&state=S'), { kind: 'answer', answer: { code: 'C', state: 'S' } });
  t.deepEqual(at('?code=C&state=S&iss=https%3A%2F%2Fp.test'), {
    kind: 'answer',
    answer: { code: 'C', state: 'S', iss: 'https://p.test' },
  });
  t.is(at('?code=C&state=S', '/inbox'), undefined);
});

test('words of an address are shown only when they belong to the sign-in of this tab', (t) => {
  const evil = '?error=access_denied&error_description=Call%20us';
  t.deepEqual(at(`${evil}&state=S`), { kind: 'refused', code: 'access_denied', description: 'Call us' });
  t.deepEqual(at(`${evil}&state=T`), NOTHING);
  t.deepEqual(at(evil), NOTHING);
  t.deepEqual(returnedWith({ pathname: '/sign-in/oidc', search: `${evil}&state=S` }, undefined), NOTHING);
  t.deepEqual(at(''), NOTHING);
  t.deepEqual(at('?code=C'), NOTHING);
  t.deepEqual(at('?code=C&state=S&error=server_error'), { kind: 'refused', code: 'server_error', description: '' });
});

test('the reader goes on at a view of the page, and nowhere else', (t) => {
  const from = (text: string) => goesOnAt({ state: 'S', from: text });
  t.deepEqual(from('/search?q=a%20b'), { view: 'search', q: 'a b' });
  t.deepEqual(goesOnAt(undefined), { view: 'place', place: 'inbox' });
  for (const text of [
    'https://evil.test/',
    '//evil.test/',
    '/\\evil.test',
    'javascript:alert(1)',
    '',
    '/sign-in/oidc?code=C',
  ])
    t.true(['place', 'unknown'].includes(from(text).view), text);
});

test('a refusal says what to do next', (t) => {
  t.deepEqual(faultOf(NOTHING), { key: 'signIn.oidc.foreign' });
  t.is(faultOf({ ...NOTHING, code: 'access_denied' }).key, 'signIn.oidc.denied');
  t.deepEqual(faultOf({ kind: 'refused', code: 'server_error', description: 'Down' }), {
    key: 'signIn.oidc.refused',
    parameters: { code: 'server_error', description: 'Down' },
  });
  t.is(faultOfAnswer(new Refusal(400, { errors: { state: ['belongs to none'] } })).key, 'signIn.oidc.foreign');
  t.is(faultOfAnswer(new Refusal(401, {})).key, 'signIn.oidc.late');
  t.deepEqual(faultOfAnswer(new Refusal(403, { detail: 'No account.' })), {
    key: 'app.failed',
    parameters: { reason: 'No account.' },
  });
  t.is(faultOfAnswer(new NetworkFault('gone')).key, 'app.failed');
});
