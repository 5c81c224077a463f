// Tests what people type into a mail program.
import { serversOf } from '../../../../web/src/settings/keys/servers.js';
import test from '../../../support/test.js';

test('each protocol has one server, with TLS from the start where that is open', (t) => {
  const server = (port: number, securePort: number, serverName = 'mail.example.test') => ({
    enabled: port + securePort > 0,
    serverName,
    port,
    securePort,
  });
  t.deepEqual(serversOf({ imap: server(143, 993), pop3: server(0, 0), smtp: server(587, 0, '[2001:db8::1]') }), [
    { protocol: 'imap', host: 'mail.example.test', port: 993, security: 'SSL/TLS' },
    { protocol: 'smtp', host: '2001:db8::1', port: 587, security: 'STARTTLS' },
  ]);
  t.deepEqual(serversOf({ imap: server(0, 0), pop3: server(0, 0), smtp: server(0, 0) }), []);
});
