// Tests the addresses of the page.
import { hrefOf, type ListRoute, parseRoute, type Route, withEmail } from '../../../web/src/app/route.js';
import test from '../../support/test.js';

function parsed(href: string): Route {
  return parseRoute(new URL(href, 'http://localhost'));
}

test('an address and the route that it names are made of each other', (t) => {
  const id = '0192b3c4-0000-7000-8000-000000000001';
  const cases: readonly [href: string, route: Route][] = [
    ['/inbox', { view: 'place', place: 'inbox' }],
    [`/flagged/${id}`, { view: 'place', place: 'flagged', emailId: id }],
    [`/label/${id}`, { view: 'label', id }],
    [`/folder/${id}/e1`, { view: 'folder', id, emailId: 'e1' }],
    [
      '/search?q=from%3Aann%20%22feeding%20plan%22%20%26%20more',
      { view: 'search', q: 'from:ann "feeding plan" & more' },
    ],
    ['/search/e1?q=', { view: 'search', q: '', emailId: 'e1' }],
    ['/compose/d1', { view: 'compose', draftId: 'd1' }],
    [
      '/compose?mailto=mailto%3Aann%40a.test%3Fsubject%3DHi%20there',
      { view: 'mailto', link: 'mailto:ann@a.test?subject=Hi there' },
    ],
    ['/settings', { view: 'settings', section: '' }],
    ['/settings/devices', { view: 'settings', section: 'devices' }],
  ];
  for (const [href, route] of cases) {
    t.deepEqual(parsed(href), route, href);
    t.is(hrefOf(route), href);
  }
});

test('the root is the inbox, and a notification opens its email there', (t) => {
  t.deepEqual(parsed('/'), { view: 'place', place: 'inbox' });
  t.deepEqual(parsed('/emails/e1'), { view: 'place', place: 'inbox', emailId: 'e1' });
});

test('an address that names nothing is unknown', (t) => {
  for (const href of ['/nothing', '/inbox/a/b', '/folder', '/compose', '/a/b/c/d', '/%zz'])
    t.deepEqual(parsed(href), { view: 'unknown' }, href);
});

test('an email is opened in a list and closed again', (t) => {
  const list: ListRoute = { view: 'search', q: 'zoë' };
  t.deepEqual(withEmail(list, 'e1'), { ...list, emailId: 'e1' });
  t.deepEqual(withEmail({ ...list, emailId: 'e1' }, undefined), list);
});
