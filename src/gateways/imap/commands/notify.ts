// NOTIFY (RFC 5465) selects which changes, of the selected mailbox and of others, are sent to the client unasked.
import { type Command, command } from '../command.js';
import { bad, type Completion, ok } from '../completion.js';
import type { FetchAttribute } from '../grammar/fetch.js';
import { type NotifyArguments, type NotifyEvent, type NotifyGroup, notifyArguments } from '../grammar/notify.js';
import { statusOf } from '../notifications/folder-differences.js';
import { Notifications, readFolders } from '../notifications/notifications.js';
import { isOfSelected, NotifyRules } from '../notifications/notify-rules.js';
import { takesUtf8 } from '../responses/list.js';
import type { Session } from '../session.js';

const OF_MESSAGES: ReadonlySet<NotifyEvent> = new Set(['MessageNew', 'MessageExpunge', 'FlagChange']);

export const notifyCommands: readonly Command[] = [
  command<NotifyArguments>({
    name: 'NOTIFY',
    states: ['authenticated', 'selected'],
    readsBack: true,
    parse: notifyArguments,
    run: notify,
  }),
];

async function notify(session: Session, { groups, withStatus }: NotifyArguments): Promise<Completion> {
  const fault = faultOf(groups);
  if (fault !== undefined) return bad(fault);
  if (groups.length === 0) {
    session.notify(undefined);
    return ok('NOTIFY completed');
  }
  const rules = new NotifyRules(groups.map((group) => ({ ...group, attributes: group.attributes.map(peeking) })));
  const folders = await readFolders(session);
  session.notify(new Notifications(session, rules, folders));
  if (withStatus) {
    const { output, selected } = session;
    for (const folder of folders.values()) {
      if (folder.id === selected?.folderId || !rules.eventsOf(folder).has('MessageNew')) continue;
      output.write(statusOf(folder, takesUtf8(session)));
      if (output.ready) await output.ready;
    }
  }
  return ok('NOTIFY completed');
}

function faultOf(groups: readonly NotifyGroup[]): string | undefined {
  const ofSelected = groups.filter(({ filter }) => isOfSelected(filter));
  if (ofSelected.length > 1) return 'Name the selected mailbox once';
  if (ofSelected.some(({ events }) => [...events].some((event) => !OF_MESSAGES.has(event)))) {
    return 'The selected mailbox has message events alone';
  }
  if (groups.some(({ filter, attributes }) => attributes.length > 0 && !isOfSelected(filter))) {
    return 'FETCH attributes are for new messages of the selected mailbox';
  }
  const seen = groups
    .flatMap(({ attributes }) => attributes)
    .find(({ type }) => type === 'RFC822' || type === 'RFC822.TEXT');
  return seen === undefined ? undefined : `Use BODY.PEEK instead of ${seen.type}, which would make messages \\Seen`;
}

/** FETCH attributes of new messages do not set `\Seen`. */
const peeking = (attribute: FetchAttribute): FetchAttribute =>
  'isPeek' in attribute ? { ...attribute, isPeek: true } : attribute;
