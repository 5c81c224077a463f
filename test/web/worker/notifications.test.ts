// Tests what a push message shows, and what a click on it opens: messages of the node, and any others.
import { pushMessage } from '../../../src/gateways/push/push-message.js';
import { notificationOf } from '../../../web/worker/notifications.js';
import test from '../../support/test.js';

const ORIGIN = 'https://mail.example.test';
const EMAIL = { id: 'e1', from: 'zoe@remote.test', fromDisplay: 'Zoë 💌', subject: 'Grüße' };

test('a message of the node names the sender and opens the email, on the origin of the page', (t) => {
  for (const publicUrl of [undefined, ORIGIN, 'https://other.example.test']) {
    const { content } = pushMessage(EMAIL, publicUrl, 0);
    const base = publicUrl ?? '';
    t.deepEqual(notificationOf(content, ORIGIN), {
      title: 'Zoë 💌',
      options: {
        body: 'Grüße',
        icon: `${base}/icons/icon-192.png`,
        badge: `${base}/icons/badge-72.png`,
        tag: 'e1',
        data: { path: '/emails/e1' },
      },
    });
  }
});

test('any other message shows something, and opens the inbox', (t) => {
  for (const message of [
    undefined,
    '',
    'null',
    '[]',
    '{"title":',
    '{"title":1,"data":7}',
    '{"data":{"url":"javascript:alert(1)"}}',
  ])
    t.deepEqual(notificationOf(message, ORIGIN), { title: 'Mansio', options: { data: { path: '/inbox' } } }, message);
});
