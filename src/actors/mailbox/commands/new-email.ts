// Makes the row of an email from a message. The summary comes last: V8 takes a microsecond for each property that follows copied ones (Node
// 20), and a delivery makes several such objects.
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { NewEmail } from '../../../store/changes/changes.js';

type OwnFields = Pick<NewEmail, 'id' | 'blob' | 'receivedAt' | 'flags' | 'keywords' | 'origin'>;

/** A thread has the id of its first email. */
export function newEmail(
  summary: MessageSummary,
  { id, blob, receivedAt, flags, keywords, origin = null }: OwnFields,
): NewEmail {
  return { id, blob, threadId: id, receivedAt, flags, keywords, origin, ...summary };
}
