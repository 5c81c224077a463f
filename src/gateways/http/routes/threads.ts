// A conversation: its emails in full, oldest first. Bodies are read newest first and within a budget; emails beyond it come
// without bodies, marked partial, and can be had one by one.
import type { EmailDetail } from '../../../actors/mailbox/protocol.js';
import { idParameter, list } from '../fields.js';
import { notFound, refused } from '../problem.js';
import { defineRoute, READ, type Route } from '../route.js';
import { detailOf } from './email-detail.js';
import { emailDetail } from './email-shapes.js';
import type { EmailSources } from './emails.js';

/** Characters of all bodies of a reply. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
const NO_BODIES = { text: '', html: '', partial: true };

export function threadRoute(base: string, tags: readonly string[], sources: EmailSources): Route {
  return defineRoute({
    method: 'GET',
    path: `${base}/threads/{threadId}`,
    summary: 'The emails of a thread, oldest first: the newest 500',
    tags,
    access: READ,
    params: { threadId: idParameter() },
    replies: { 200: list(emailDetail) },
    handler: async ({ principal, params }) => {
      const outcome = await sources.mailboxes.of(principal.accountId).ask('thread', { threadId: params.threadId });
      if (outcome.reply === undefined) return refused(outcome.refusal);
      const shown = await detailsOf(outcome.reply.emails, sources);
      return shown.length === 0 ? notFound() : { status: 200, json: shown };
    },
  });
}

async function detailsOf(emails: readonly EmailDetail[], { blobs, decoder }: EmailSources) {
  const shown = [];
  let left = MOST_CHARACTERS;
  for (const email of emails.toReversed()) {
    const index = await blobs.index(email.blob);
    // Deleted meanwhile, and its blob collected.
    if (index === undefined) continue;
    const bodies =
      left > 0 ? await decoder.bodies(index, (start, end) => blobs.read(email.blob, start, end)) : NO_BODIES;
    left -= bodies.text.length + bodies.html.length;
    shown.push(detailOf(email, index, bodies));
  }
  return shown.reverse();
}
