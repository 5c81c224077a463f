// Tests where rspamd is taught when no controller is named.
import { controllerOf } from '../../../src/message-checks/rspamd/rspamd-teacher.js';
import test from '../../support/test.js';

test('the controller is beside a worker on its usual port, else it is the server that checks', (t) => {
  t.is(controllerOf('http://rspamd.internal:11333'), 'http://rspamd.internal:11334');
  t.is(controllerOf('https://[::1]:11333/'), 'https://[::1]:11334');
  t.is(controllerOf('http://127.0.0.1:15333'), 'http://127.0.0.1:15333');
  t.is(controllerOf('http://rspamd.internal'), 'http://rspamd.internal');
});
