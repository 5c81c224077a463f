// Gives tests an account that sends mail on, and what becomes of it: what is due, what is queued, and what the account has.
import pino from 'pino';
import { startAutomaticMail, type WriteMail } from '../../../../src/actors/mailbox/background/automatic-mail.js';
import type { DueMail } from '../../../../src/store/mailbox-rows.js';
import type { Forwarding } from '../../../../src/store/preferences.js';
import { until } from '../../../support/until.js';
import { outcome, reported, sender, started } from '../outbound-world.js';

export const TO = 'me@elsewhere.test';

type T = Parameters<typeof sender>[0];
type Limits = NonNullable<Parameters<typeof sender>[1]>;

/** `limits`: of recipients; none by default. */
export async function setUp(t: T, limits: Limits = {}) {
  const { world, accountId, mailbox } = await sender(t, limits);
  const forward = (forwarding: Partial<Forwarding>) =>
    mailbox.ask('choosePreferences', {
      chosen: { forwarding: { isEnabled: true, address: TO, keepCopy: true, ...forwarding } },
    });
  const deliver = async (more: object = {}) => {
    const [spooled] = await world.spool([accountId], 1);
    const about = { sender: 'ann@far.test', recipient: 'me@example.test', ...more };
    return (await spooled!.deliver(about)).reply!.emailId;
  };
  const due = async () => (await mailbox.ask('dueAutomaticMail', {})).reply!.due;
  const listed = async (folder: string) => (await mailbox.ask('list', { folder, page: 1, pageSize: 50 })).reply!.items;
  const inbox = () => listed('inbox');
  const rows = async () =>
    (
      await world.sql<{ count: number }[]>`select count(*)::int from due_automatic_mail where account_id = ${accountId}`
    )[0]!.count;
  const outbound = async () =>
    (await mailbox.ask('outboundPage', { statuses: ['Queued', 'Sending', 'Sent', 'Failed'], page: 1, pageSize: 50 }))
      .reply!.items;
  /** Sends what is due, as the owner of the mailbox does. Returns why mail is kept. */
  const send = async (write: WriteMail = written) => {
    const { blobs, mailboxes } = world;
    const kept: string[] = [];
    const meter = { kept: (why: string) => void kept.push(why) };
    const log = pino({ level: 'silent' });
    const worker = startAutomaticMail({ write: { forward: write }, blobs, mailboxes, meter, log });
    worker.note(accountId);
    await until(async () => (await due()).length === 0);
    await worker.stop();
    return kept;
  };
  const end = async (kind: 'delivered' | 'permanent') => {
    for (const { id } of await outbound()) {
      const { attemptId, reply } = await started(world, accountId, id);
      if (reply !== undefined)
        await reported(
          world,
          accountId,
          id,
          attemptId,
          reply.recipients.map((recipient) => outcome(recipient.id, kind)),
        );
    }
  };
  return { world, accountId, mailbox, forward, deliver, due, listed, inbox, rows, outbound, send, end };
}

export const written: WriteMail = async (_, { id, targets, sender: from }: DueMail) => ({
  message: Buffer.from(`Subject: forwarded ${id}\r\n\r\nhello`),
  sender: from === '' ? '' : 'srs@example.test',
  to: targets,
  reportTo: from === '' ? null : from,
});
