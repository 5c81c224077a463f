// The check `rspamd`: whether the worker of MANSIO_RSPAMD_URL answers.
import { RspamdServer } from '../../message-checks/rspamd/rspamd-server.js';
import type { NodeCheck } from './check.js';
import { fail, ok, reasonOf, warn } from './finding.js';

const FIX = 'systemctl restart rspamd';

export const rspamdCheck: NodeCheck = {
  name: 'rspamd',
  async run({ config: { rspamdUrl, contentCheckFailure }, dialMs }) {
    if (rspamdUrl === undefined) return [];
    const subject = new URL(rspamdUrl).host;
    try {
      const { status, text } = await new RspamdServer(rspamdUrl).get('/ping', AbortSignal.timeout(dialMs));
      if (status === 200 && text.trim() === 'pong') return [ok(subject, 'answers')];
      return [warn(subject, `answers /ping with ${status}: it is no worker of rspamd`, 'set MANSIO_RSPAMD_URL')];
    } catch (error) {
      const reason = reasonOf(error);
      if (contentCheckFailure === 'defer') return [fail(subject, `all mail is deferred: ${reason}`, FIX)];
      return [warn(subject, `mail is accepted unchecked: ${reason}`, FIX)];
    }
  },
};
