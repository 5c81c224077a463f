// Runs of a filter over existing mail: begun, watched, undone.
import { optional } from 'superstruct';
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import { flag, idParameter, record, text, uuid, whole } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, refused } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';

const runInput = named(
  'FilterRunInput',
  record({
    folderId: optional(
      text({ description: 'A folder (id or role); without it, all folders but Trash, Junk, Sent and Drafts' }),
    ),
  }),
);

const begun = named('FilterRunBegun', record({ runId: uuid() }));

const run = named(
  'FilterRun',
  record({
    matched: whole(),
    changed: whole({ description: 'Emails that the run has changed and that are not undone' }),
    total: whole({ description: 'Emails in the folders when the run began' }),
    isDone: flag({ description: 'Nothing is left to do, or to undo' }),
    isUndone: flag({ description: 'The run is undone, or is being undone' }),
  }),
);

const params = { id: idParameter(), runId: idParameter() };

export function filterRunRoutes(base: string, tags: readonly string[], mailboxes: Mailboxes): readonly Route[] {
  const path = `${base}/{id}/apply`;
  return [
    defineRoute({
      method: 'POST',
      path,
      summary: 'Apply a filter to existing mail',
      description:
        'A filter that deletes moves to Trash. Emails that arrive later are not touched. The last 10 runs of an account are kept; 409 while 3 of them have work.',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      body: runInput,
      isBodyOptional: true,
      example: {},
      replies: { 202: begun },
      handler: async ({ principal, params: { id: filterId }, body: { folderId } }) => {
        const payload = { filterId, ...(folderId !== undefined && { folderId: folderId.toLowerCase() }) };
        const outcome = await mailboxes.of(principal.accountId).ask('startFilterRun', payload);
        if (outcome.reply !== undefined) return { status: 202, json: outcome.reply };
        return outcome.refusal === 'noSuchFolder'
          ? invalid({ folderId: ['names no folder of this account whose mail can be filtered'] })
          : refused(outcome.refusal);
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/{runId}`,
      summary: 'How far a run of a filter is',
      tags,
      access: READ,
      params,
      replies: { 200: run },
      handler: async ({ principal, params: { id, runId } }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('filterRun', { runId });
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const { filterId, phase, matched, changed, total } = outcome.reply;
        if (filterId !== id) return refused('noSuchRun');
        const isDone = phase === 'done' || phase === 'undone';
        return { status: 200, json: { matched, changed, total, isDone, isUndone: phase.startsWith('undo') } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/{runId}/undo`,
      summary: 'Undo a run of a filter: what nobody has changed since is as it was',
      description: 'A run that has not ended ends.',
      tags,
      access: WRITE,
      params,
      replies: { 202: EMPTY },
      handler: async ({ principal, params: { id, runId } }) => {
        const mailbox = mailboxes.of(principal.accountId);
        const outcome = await mailbox.ask('filterRun', { runId });
        if (outcome.reply?.filterId !== id) return refused('noSuchRun');
        const { refusal } = await mailbox.ask('undoFilterRun', { runId });
        return refusal === undefined ? { status: 202 } : refused(refusal);
      },
    }),
  ];
}
