// Labels and the emails that carry them. A refusal of a body names every faulty field.
import type { Infer } from 'superstruct';
import type { Label, Mailboxes } from '../../../../actors/mailbox/protocol.js';
import {
  isSystemName,
  LABEL_COLOR,
  LONGEST_LEVEL,
  labelName,
  SYSTEM_NAMES,
} from '../../../../mail-format/folder-name.js';
import { isUuid } from '../../../../mail-format/ids.js';
import { idParameter, leaf, list, record, smallWhole, text, timestamp, uuid, whole } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, notFound, refused } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';
import { colorText, emailPage, isoTime, listing, listingOf, pageOf } from '../emails/email-shapes.js';
import { nameField } from './name-field.js';

const label = named(
  'Label',
  record({
    id: uuid(),
    name: text(),
    color: colorText(),
    sortOrder: whole(),
    emailCount: whole(),
    createdAt: timestamp(),
  }),
);

const name = () => nameField(freeName, { minLength: 1, maxLength: LONGEST_LEVEL });

function freeName(text: string): ReturnType<typeof labelName> {
  const read = labelName(text);
  return 'name' in read && isSystemName(read.name) ? { problem: 'is the name of a system folder' } : read;
}

const color = () =>
  leaf<string>('string', (value) => (typeof value === 'string' && LABEL_COLOR.test(value)) || 'must be #rrggbb', {
    pattern: '^#[0-9A-Fa-f]{6}$',
  });

const labelInput = named('LabelInput', record({ name: name(), color: color(), sortOrder: smallWhole() }), {
  description: `Names are unique in an account without case, and none of ${SYSTEM_NAMES.join(', ')}`,
});
const assignment = named(
  'LabelAssignment',
  record({ labelId: text({ format: 'uuid', description: 'A label of the account' }) }),
);

const EXAMPLE = { name: 'Work', color: '#3b82f6', sortOrder: 1 };

const nameTaken = () => invalid({ name: ['is the name of another label or folder'] });
const tooMany = () => invalid({ name: ['there are as many labels as an account may have'] });

/** Refuses a name that would make the path of a label below this one too long. */
const tooLong = () => invalid({ name: ['makes a name below it too long'] });

export function labelRoutes(base: string, tags: readonly string[], mailboxes: Mailboxes): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: base,
      summary: 'Labels, by sortOrder and then name',
      tags,
      access: READ,
      replies: { 200: list(label) },
      handler: async ({ principal }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('labels', {});
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: outcome.reply.labels.map(shown) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: base,
      summary: 'Make a label',
      tags,
      access: WRITE,
      body: labelInput,
      example: EXAMPLE,
      replies: { 201: label },
      handler: async ({ principal, body }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('createLabel', shapeOf(body));
        if (outcome.reply === undefined) return outcome.refusal === 'tooMany' ? tooMany() : nameTaken();
        return { status: 201, json: shown(outcome.reply) };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: `${base}/{id}`,
      summary: 'Change a label; names below it change with its own',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      body: labelInput,
      example: EXAMPLE,
      replies: { 204: EMPTY },
      handler: async ({ principal, params, body }) => {
        const payload = { labelId: params.id, ...shapeOf(body) };
        const { refusal } = await mailboxes.of(principal.accountId).ask('updateLabel', payload);
        if (refusal === 'nameTaken') return nameTaken();
        if (refusal === 'nameTooLong') return tooLong();
        return refusal === undefined ? { status: 204 } : refused(refusal);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${base}/{id}`,
      summary: 'Delete a label; emails without another place go to Archive',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      replies: { 204: EMPTY },
      handler: async ({ principal, params }) => {
        const mailbox = mailboxes.of(principal.accountId);
        let outcome = await mailbox.ask('deleteLabel', { labelId: params.id });
        while (outcome.reply?.isComplete === false) outcome = await mailbox.ask('deleteLabel', { labelId: params.id });
        return outcome.refusal === undefined ? { status: 204 } : refused(outcome.refusal);
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/{labelId}/emails`,
      summary: 'Emails that carry a label, newest first',
      tags,
      access: READ,
      params: { labelId: idParameter() },
      query: listing,
      replies: { 200: emailPage },
      handler: async ({ principal, params, query }) => {
        const payload = { labelId: params.labelId, ...listingOf(query) };
        const outcome = await mailboxes.of(principal.accountId).ask('labelEmails', payload);
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: pageOf(outcome.reply, query) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${base}/emails/{emailId}`,
      summary: 'Put a label on an email',
      tags,
      access: WRITE,
      params: { emailId: idParameter() },
      body: assignment,
      example: { labelId: '0192f3a1-7c2e-7d4b-8f10-2b6a5c9e0d11' },
      replies: { 204: EMPTY },
      handler: async ({ principal, params, body }) => {
        if (!isUuid(body.labelId)) return notFound();
        const payload = { emailId: params.emailId, labelId: body.labelId.toLowerCase() };
        const { refusal } = await mailboxes.of(principal.accountId).ask('assignLabel', payload);
        return refusal === undefined ? { status: 204 } : refused(refusal);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${base}/emails/{emailId}/{labelId}`,
      summary: 'Take a label off an email; an email without another place goes to Archive',
      tags,
      access: WRITE,
      params: { emailId: idParameter(), labelId: idParameter() },
      replies: { 204: EMPTY },
      handler: async ({ principal, params }) => {
        const { refusal } = await mailboxes.of(principal.accountId).ask('unassignLabel', params);
        return refusal === undefined ? { status: 204 } : refused(refusal);
      },
    }),
  ];
}

const shapeOf = ({ name, color, sortOrder }: Infer<typeof labelInput>) => ({ name, color, sortOrder });

const shown = (of: Label): Infer<typeof label> => ({ ...of, createdAt: isoTime(of.createdAt) });
