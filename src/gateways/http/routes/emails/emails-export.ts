// Exports the mail of an account except trash and junk, or one folder, as one mailbox file, oldest first. An export reads everything, so
// the rate of exports per account is limited.
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import type { BlobStore } from '../../../../store/blobs.js';
import { attachmentDisposition } from '../../content-disposition.js';
import type { HeaderField } from '../../exchange.js';
import { periodOf } from '../../fields.js';
import { mboxStream } from '../../mbox-stream.js';
import { Problem } from '../../problem.js';
import { binary, defineRoute, READ, type Route } from '../../route.js';
import { folderOf, folderParameter, noSuchFolder, period } from './email-shapes.js';

const MOST_EMAILS = 50_000;
const TRUNCATED: HeaderField = ['X-Export-Truncated', 'true'];

export interface ExportSources {
  readonly mailboxes: Mailboxes;
  readonly blobs: BlobStore;
  /** Claims the permit to export for an account, or returns the seconds until there is one. */
  readonly exports: {
    claim(accountId: string): Promise<{ readonly waitSeconds: number; readonly giveBack?: () => void }>;
  };
}

export function exportRoute(base: string, tags: readonly string[], sources: ExportSources): Route {
  return defineRoute({
    method: 'GET',
    path: `${base}/export/mbox`,
    summary: `The account's mail as an mboxrd file, oldest first, at most ${MOST_EMAILS} emails`,
    description:
      'The export leaves out trash and junk, unless `folder` names one. Another export of the account within the interval (10 minutes by default) is 429 with the time to wait. An export that is not read to its end does not count, three times within the interval.',
    tags,
    access: READ,
    query: { ...period, folder: folderParameter },
    replies: {
      200: binary('application/mbox', {
        'Content-Disposition': 'attachment, with a file name (RFC 6266)',
        'X-Export-Truncated': `\`true\` when there were more than ${MOST_EMAILS} emails`,
      }),
    },
    handler: async ({ principal, query, isHead }) => {
      const { accountId } = principal;
      const criteria = { ...periodOf(query.fromDate, query.toDate), ...folderOf(query.folder) };
      const outcome = await sources.mailboxes.of(accountId).ask('exportCount', criteria);
      if (outcome.reply === undefined) return noSuchFolder();
      // A HEAD request exports nothing, so it needs no permit.
      const { waitSeconds, giveBack } = isHead ? { waitSeconds: 0 } : await sources.exports.claim(accountId);
      if (waitSeconds > 0) {
        const detail = 'This account has exported its mail not long ago.';
        return new Problem(429, { detail, headers: [['Retry-After', String(waitSeconds)]] });
      }
      return {
        finished: (whole) => {
          if (!whole) giveBack?.();
        },
        status: 200,
        headers: [
          ['Content-Type', 'application/mbox'],
          ['Content-Disposition', attachmentDisposition('mail.mbox')],
          ...(outcome.reply.count > MOST_EMAILS ? [TRUNCATED] : []),
        ],
        stream: { length: null, chunks: mboxStream(sources, accountId, criteria, MOST_EMAILS) },
      };
    },
  });
}
