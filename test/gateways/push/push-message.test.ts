// Tests what browsers are told about a new email: at most what a push service accepts, and never half a character.

import fc from 'fast-check';
import { pushMessage } from '../../../src/gateways/push/push-message.js';
import test from '../../support/test.js';

const ID = '0192f3a1-7c2e-7d4b-8f10-2b6a5c9e0d11';
const email = (fields: { from?: string; fromDisplay?: string; subject?: string }) => ({
  id: ID,
  from: 'zoe@example.test',
  fromDisplay: '',
  subject: '',
  ...fields,
});

test('the title is the name of the sender or the address, the body the subject', (t) => {
  const content = (fields: Parameters<typeof email>[0], url?: string) =>
    JSON.parse(pushMessage(email(fields), url, 0).content);
  t.deepEqual(content({ fromDisplay: 'Zoë 💌', subject: 'Hi' }, 'https://mail.example.test/app/'), {
    title: 'Zoë 💌',
    body: 'Hi',
    icon: 'https://mail.example.test/app/icons/icon-192.png',
    badge: 'https://mail.example.test/app/icons/badge-72.png',
    data: { emailId: ID, url: `https://mail.example.test/app/emails/${ID}` },
  });
  t.like(content({ fromDisplay: ' ' }), {
    title: 'zoe@example.test',
    body: '(no subject)',
    data: { url: `/emails/${ID}` },
  });
});

test('texts are cut between characters', (t) => {
  const { title, body } = JSON.parse(
    pushMessage(email({ fromDisplay: '💌'.repeat(120), subject: '💌'.repeat(401) }), '', 0).content,
  );
  t.is(title, '💌'.repeat(120));
  t.is(body, `${'💌'.repeat(399)}…`);
});

test('whatever the email says, the encrypted message is within 4,096 octets and is JSON', (t) => {
  const text = fc.string({ unit: 'binary', maxLength: 3_000 });
  fc.assert(
    fc.property(text, text, fc.string({ maxLength: 500 }), fc.nat(1e9), (fromDisplay, subject, url, age) => {
      const { content, ttl, topic } = pushMessage(email({ fromDisplay, subject }), url, age);
      t.true(Buffer.byteLength(content) + 103 <= 4_096);
      JSON.parse(content);
      t.true(ttl >= 0 && ttl <= 86_400);
      t.regex(topic, /^[\w-]{1,32}$/);
    }),
  );
});
