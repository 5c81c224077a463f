// Injects faults into a mailbox, by a name or a subject: limits that would take thousands of requests to reach, and
// another client that edits a draft at the same time.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OutboundEmail } from '../../../src/actors/mailbox/outbound/protocol.js';
import type { MailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import type { Outcome, Payload } from '../../../src/actors/runtime/protocol.js';
import { ALICE } from './fakes.js';
import type { TestMailboxes } from './mailboxes.js';

type Of<N extends keyof MailboxProtocol['operations']> = Payload<MailboxProtocol, N>;

/** A mailbox refuses this name or subject because it has too many records. */
export const ONE_TOO_MANY = 'one too many';
/** A mailbox refuses folders with these names. */
export const REFUSED_NAMES = { nameTooLong: 'too long', tooMany: ONE_TOO_MANY } as const;
/** Another client edits a draft with this subject whenever it is read. */
export const RESTLESS = 'restless';
/** Another client edits a draft with this subject at the first and second reading. */
export const RESTLESS_TWICE = 'restless twice';

export function injectFaults(mailboxes: TestMailboxes): void {
  const refuseNamed = <P>(name: string, nameIn: (payload: P) => string | undefined) =>
    mailboxes.hook(name, (payload: P, proceed) => {
      const refusal = Object.entries(REFUSED_NAMES).find(([, text]) => text === nameIn(payload))?.[0];
      return refusal === undefined ? proceed() : { refusal };
    });
  refuseNamed('createFolder', ({ name }: Of<'createFolder'>) => name);
  refuseNamed('renameFolder', ({ name }: Of<'renameFolder'>) => name);
  refuseNamed('createLabel', ({ name }: Of<'createLabel'>) => name);
  refuseNamed('putFilter', ({ rule }: Of<'putFilter'>) => rule.name);
  refuseNamed('createDraft', ({ draft }: Of<'createDraft'>) => draft.subject);

  let edits = 0;
  mailboxes.hook('outbound', async (_: Of<'outbound'>, proceed) => {
    const answer = (await proceed()) as Outcome<MailboxProtocol, 'outbound'>;
    const email = answer.reply?.email;
    if (email?.subject === RESTLESS || (email?.subject === RESTLESS_TWICE && edits++ < 2)) {
      // Two changes within one millisecond look the same.
      while (Date.now() <= email.updatedAt) await nextTurn();
      await edit(mailboxes, email);
    }
    return answer;
  });
}

/** Replaces the recipient and keeps the message. */
async function edit(mailboxes: TestMailboxes, { id, subject, blob, size }: OutboundEmail): Promise<void> {
  const sender = 'alice@example.test';
  const summary = {
    messageId: null,
    inReplyTo: null,
    references: [],
    fromAddress: sender,
    fromName: '',
    subject,
    preview: '',
    size,
    hasAttachments: false,
    attachmentCount: 0,
  };
  const draft = {
    sender,
    subject,
    content: { textBody: 'Hello', htmlBody: null },
    recipients: [{ address: 'bob@remote.test', displayName: null, type: 'To' as const, domain: 'remote.test' }],
    message: { blob, size, summary },
  };
  await mailboxes.actors.of(ALICE).ask('updateDraft', { outboundId: id, draft });
}
