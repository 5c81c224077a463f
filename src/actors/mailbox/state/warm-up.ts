// Opens what loading a mailbox needs, before a node gets mailboxes.
import type { MailboxStore } from '../../../store/mailboxes.js';

const REHEARSALS = 6;
const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Loads a mailbox that does not exist, several times at once: this opens connections and prepares statements, for a node that gets
 * mailboxes right after its start.
 */
export async function warmUp(store: MailboxStore): Promise<void> {
  const load = async () => {
    await store.claim(NOBODY, 0);
    await store.overview(NOBODY);
    await store.keywords(NOBODY);
    for await (const _ of store.emails(NOBODY));
    for await (const _ of store.placements(NOBODY));
  };
  await Promise.all(Array.from({ length: REHEARSALS }, load));
}
