// Tests what phones scan: an account in Thunderbird's format for phones, and the address of the page.
import { phonePage, thunderbirdAccount } from '../../../../web/src/settings/keys/phone-setup.js';
import test from '../../../support/test.js';

const OFF = { enabled: false, serverName: '', port: 0, securePort: 0 };
const server = (port: number, securePort: number) => ({
  enabled: true,
  serverName: 'mail.example.test',
  port,
  securePort,
});
const info = { imap: server(143, 993), pop3: server(110, 995), smtp: server(587, 465), username: 'zoe@example.test' };
const owner = { email: 'zoe@example.test', displayName: 'Zoë Ünal' };

test('an account for IMAP has servers, the key for both, and who sends', (t) => {
  const text = thunderbirdAccount({ apiKey: 'mansio_key', scopes: ['imap', 'smtp'] }, info, owner)!;
  t.deepEqual(JSON.parse(text), [
    1,
    [1, 1],
    [0, 'mail.example.test', 993, 3, 1, 'zoe@example.test', '', 'mansio_key'],
    [
      [
        [0, 'mail.example.test', 465, 3, 1, 'zoe@example.test', 'mansio_key'],
        ['zoe@example.test', 'Zoë Ünal'],
      ],
    ],
  ]);
});

test('POP3 and STARTTLS have numbers of their own', (t) => {
  const plain = { ...info, pop3: server(110, 0), smtp: server(587, 0) };
  const [, , incoming, [[outgoing]]] = JSON.parse(
    thunderbirdAccount({ apiKey: 'k', scopes: ['pop3', 'smtp'] }, plain, owner)!,
  );
  t.deepEqual(incoming.slice(0, 5), [1, 'mail.example.test', 110, 2, 1]);
  t.deepEqual(outgoing.slice(0, 5), [0, 'mail.example.test', 587, 2, 1]);
});

test('there is no account where mail is not read and sent, or a name is not in ASCII', (t) => {
  const of = (scopes: readonly ('imap' | 'smtp' | 'api:read')[], more: object = {}, who = owner) =>
    thunderbirdAccount({ apiKey: 'k', scopes }, { ...info, ...more }, who);
  t.is(of(['smtp']), undefined);
  t.is(of(['imap']), undefined);
  t.is(of(['api:read']), undefined);
  t.is(of(['imap', 'smtp'], { smtp: OFF }), undefined);
  t.is(of(['imap', 'smtp'], {}, { ...owner, email: 'zoë@example.test' }), undefined);
});

test('a phone reaches the page under its name, not on the machine of somebody else', (t) => {
  const of = (origin: string) => phonePage(new URL(origin));
  t.is(of('https://mail.example.test:8443'), 'https://mail.example.test:8443/settings/keys');
  for (const origin of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'])
    t.is(of(origin), undefined);
});
