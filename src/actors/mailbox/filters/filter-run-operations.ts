// The operations of the mailbox protocol for runs of filters over existing mail.
import { array, boolean, enums, integer, nullable, object, optional, string, unknown } from 'superstruct';
import { command, query } from '../../runtime/protocol.js';

const done = object({});

const run = object({
  filterId: string(),
  phase: enums(['applying', 'done', 'undoing', 'undone']),
  total: integer(),
  matched: integer(),
  changed: integer(),
});

export const filterRunOperations = {
  /** `folderId`: a folder by id or role; without it, all folders but Trash, Junk, Sent and Drafts. */
  startFilterRun: command({
    payload: object({ filterId: string(), folderId: optional(string()) }),
    reply: object({ runId: string() }),
    refusals: ['noSuchFilter', 'noSuchFolder', 'tooManyRuns'],
    onRepeat: 'remembered',
  }),
  filterRun: query({ payload: object({ runId: string() }), reply: run, refusals: ['noSuchRun'] }),
  /** Ends the run if it has not ended, and begins to undo it. */
  undoFilterRun: command({
    payload: object({ runId: string() }),
    reply: done,
    refusals: ['noSuchRun'],
    onRepeat: 'harmless',
  }),
  /** The next emails that a run looks at, or the next batch that it undoes; null when no run has work. */
  filterRunWork: query({
    payload: object({}),
    reply: object({
      apply: optional(
        object({
          runId: string(),
          /** The position of the run before and after these emails. */
          after: string(),
          upTo: string(),
          isLast: boolean(),
          /** The conditions of the filter. */
          rule: unknown(),
          emails: array(
            object({
              emailId: string(),
              blob: string(),
              facts: object({
                fromAddress: string(),
                subject: string(),
                hasAttachments: boolean(),
                size: integer(),
              }),
            }),
          ),
        }),
      ),
      undo: optional(object({ runId: string(), number: integer(), emails: nullable(unknown()) })),
    }),
  }),
  /** Applies the filter of a run to emails that match; does nothing when the run is not at `after` any more. */
  applyFilterRun: command({
    payload: object({
      runId: string(),
      after: string(),
      upTo: string(),
      isLast: boolean(),
      emailIds: array(string()),
    }),
    reply: done,
    onRepeat: 'harmless',
  }),
  /** Undoes a batch; does nothing when that has happened. */
  undoFilterBatch: command({
    payload: object({ runId: string(), number: integer(), emails: unknown() }),
    reply: done,
    onRepeat: 'harmless',
  }),
};
