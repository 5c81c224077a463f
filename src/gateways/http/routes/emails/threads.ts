// A conversation: its emails in full, oldest first. Bodies are read newest first and within a budget; emails beyond it come without bodies,
// marked partial, and clients can request them one by one. A reply without the whole conversation is marked.
import { optional } from 'superstruct';
import type { EmailDetail } from '../../../../actors/mailbox/protocol.js';
import type { Viewer } from '../../../../message-content/decode/decoder.js';
import { EncodedJson } from '../../encoded-json.js';
import type { HeaderField } from '../../exchange.js';
import { idParameter, list, pageOr, pageSizeOr } from '../../fields.js';
import { notFound, refused } from '../../problem.js';
import { defineRoute, READ, type Route } from '../../route.js';
import { viewerOf, withRoom } from './body-views.js';
import { type DetailSources, detailWithoutBodies, knownDetail, readDetail } from './detail-views.js';
import type { Detail } from './email-detail.js';
import { emailDetail } from './email-shapes.js';
import type { EmailSources } from './emails.js';

/** The most characters of all bodies in a reply. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** The most characters of a reply that needs no room. */
const SHORT_CHARACTERS = 64 * 1024;
const TRUNCATED: HeaderField = ['X-Truncated', 'true'];
const PAGED = 'Without `page` and `pageSize`: the newest 500 emails. With one of them: a page of all';

export function threadRoute(base: string, tags: readonly string[], sources: EmailSources): Route {
  return defineRoute({
    method: 'GET',
    path: `${base}/threads/{threadId}`,
    summary: 'The emails of a thread, oldest first: the newest 500, or a page of all',
    description:
      'In long threads, emails whose bodies do not fit come without them and with `isPartial`, and `X-Truncated` says that something is missing; each email can be read by itself. Pages begin with the oldest email.',
    tags,
    access: READ,
    params: { threadId: idParameter() },
    query: {
      page: optional(pageOr({ default: undefined, description: PAGED })),
      pageSize: optional(
        pageSizeOr({ default: undefined, description: `${PAGED}, 20 emails by default; at most 100` }),
      ),
    },
    replies: { 200: list(emailDetail) },
    replyFields: {
      'X-Truncated':
        '`true` when bodies were left out for their size or, without `page`, when the thread has more than 500 emails',
      'X-Total-Count': 'Emails of the whole thread',
    },
    handler: async (call) => {
      const { principal, params, query } = call;
      const paged = query.page !== undefined || query.pageSize !== undefined;
      const outcome = await sources.mailboxes.of(principal.accountId).ask('thread', {
        threadId: params.threadId,
        ...(paged ? { page: query.page ?? 1, pageSize: query.pageSize ?? 20 } : {}),
      });
      if (outcome.reply === undefined) return refused(outcome.refusal);
      const { emails, total } = outcome.reply;
      const known = knownDetails(emails, sources, principal);
      if (known !== undefined && total === emails.length) {
        return { status: 200, headers: [['X-Total-Count', String(total)]], json: threadJson(known) };
      }
      const viewer = viewerOf(call);
      const octets = emails.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      return withRoom(sources.decoder, octets, viewer, async () => {
        const { shown, isCut } = await detailsOf(emails, sources, viewer);
        if (shown.length === 0 && !paged) return notFound();
        const isTruncated = isCut || (!paged && total > emails.length);
        const headers: HeaderField[] = [['X-Total-Count', String(total)], ...(isTruncated ? [TRUNCATED] : [])];
        return { status: 200 as const, headers, json: threadJson(shown) };
      });
    },
  });
}

const threadJson = (details: readonly string[]) => new EncodedJson<Detail[]>(`[${details.join(',')}]`);

/** The details of a short thread, when all its messages are cached; such a reply needs no room. */
function knownDetails(
  emails: readonly EmailDetail[],
  sources: DetailSources,
  viewer: Viewer,
): readonly string[] | undefined {
  const shown: string[] = [];
  let length = 0;
  for (const email of emails) {
    const known = knownDetail(sources, email, viewer);
    length += known?.json.length ?? 0;
    if (known === undefined || length > SHORT_CHARACTERS) return undefined;
    shown.push(known.json);
  }
  return shown;
}

/** `isCut`: bodies that the emails have are left out. */
async function detailsOf(emails: readonly EmailDetail[], sources: DetailSources, viewer: Viewer) {
  const shown: string[] = [];
  let left = MOST_CHARACTERS;
  let isCut = false;
  for (const email of emails.toReversed()) {
    viewer.signal?.throwIfAborted();
    const known = left > 0 ? knownDetail(sources, email, viewer) : undefined;
    const index = known === undefined ? await sources.blobs.index(email.blob) : undefined;
    // The email was deleted meanwhile, and its blob collected.
    if (known === undefined && index === undefined) continue;
    isCut ||= left <= 0;
    const detail = known ?? (left > 0 ? await readDetail(sources, email, index!, viewer) : undefined);
    left -= detail?.characters ?? 0;
    shown.push(detail?.json ?? (await detailWithoutBodies(sources, email, index!)));
  }
  return { shown: shown.reverse(), isCut };
}
