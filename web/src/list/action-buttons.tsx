// The buttons of what can be done with the selected emails, or with the open one. What makes no sense in a folder is not shown there.
import { shownKeys } from '../app/keyboard.js';
import { archive, areFlagged, junk, moveTo, setRead, shownRole, toggleFlag, trash } from '../app/mail-actions.js';
import { useStore } from '../app/store.js';
import { Icon, type IconName } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { Picker, type PickerPlace, pick } from './picker.js';

interface ActionButtonsProps {
  /** What the buttons show the state of. */
  readonly ids: readonly string[];
  /** Calls an action with the emails that it is for. */
  readonly act: (run: (ids: readonly string[]) => void) => void;
  readonly place: Exclude<PickerPlace, 'list'>;
}

export function ActionButtons({ ids, act, place }: ActionButtonsProps) {
  const store = useStore();
  const role = shownRole(store);
  const items = ids.flatMap((id) => store.list.known(id) ?? []);
  const isRead = items.length > 0 && items.every((item) => item.isRead);
  const isFlagged = areFlagged(store, ids);
  const isOut = role === 'trash' || role === 'archive';
  return (
    <div class="action-buttons" role="toolbar" aria-label={t('act.actions')}>
      {isOut && (
        <ActionButton icon="inbox" name={t('act.toInbox')} run={() => act((all) => moveTo(store, 'inbox', all))} />
      )}
      {role !== 'archive' && role !== 'trash' && (
        <ActionButton icon="archive" name={t('act.archive')} keys="e" run={() => act((all) => archive(store, all))} />
      )}
      <ActionButton
        icon="trash-2"
        name={t(role === 'trash' ? 'act.delete' : 'act.trash')}
        keys="#"
        run={() => act((all) => trash(store, all))}
      />
      {role !== 'sent' && role !== 'drafts' && (
        <ActionButton
          icon={role === 'junk' ? 'inbox' : 'triangle-alert'}
          name={t(role === 'junk' ? 'act.notJunk' : 'act.junk')}
          keys="!"
          run={() => act((all) => junk(store, all))}
        />
      )}
      <ActionButton
        icon={isRead ? 'mail' : 'mail-open'}
        name={t(isRead ? 'act.unread' : 'act.read')}
        keys={isRead ? 'U' : 'I'}
        run={() => act((all) => setRead(store, !isRead, all))}
      />
      <ActionButton
        icon="star"
        name={t(isFlagged ? 'act.unflag' : 'act.flag')}
        keys="s"
        isPressed={isFlagged}
        run={() => act((all) => toggleFlag(store, all))}
      />
      <div class="picker-place">
        <ActionButton
          icon="tag"
          name={t('act.label')}
          keys="l"
          run={() => act((all) => pick({ what: 'label', ids: all, place }))}
        />
        <ActionButton
          icon="folder"
          name={t('act.move')}
          keys="v"
          run={() => act((all) => pick({ what: 'move', ids: all, place }))}
        />
        <Picker place={place} />
      </div>
    </div>
  );
}

interface ActionButtonProps {
  readonly icon: IconName;
  readonly name: string;
  /** The key that does the same. */
  readonly keys?: string;
  readonly isPressed?: boolean;
  readonly run: () => void;
}

function ActionButton({ icon, name, keys, isPressed, run }: ActionButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={name}
      aria-pressed={isPressed}
      title={keys === undefined ? name : `${name} (${shownKeys(keys)})`}
      onClick={run}
    >
      <Icon name={icon} />
    </button>
  );
}
