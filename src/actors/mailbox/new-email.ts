// The row of an email that a message becomes. The summary comes last in it: V8 takes a microsecond for each property that
// follows copied ones (Node 20), and a delivery makes a few such objects.
import type { MessageSummary } from '../../mail/summary.js';
import type { NewEmail } from '../../store/changes.js';

type OwnFields = Pick<NewEmail, 'id' | 'blob' | 'receivedAt' | 'flags' | 'keywords' | 'origin'>;

/** A thread is named after its first email. */
export function newEmail(
  summary: MessageSummary,
  { id, blob, receivedAt, flags, keywords, origin = null }: OwnFields,
): NewEmail {
  return { id, blob, threadId: id, receivedAt, flags, keywords, origin, ...summary };
}
