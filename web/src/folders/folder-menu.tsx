// The menu of a folder or label of the user: change it, move a label up and down, make a folder in it, delete it.
import type { Folder } from '../../../src/client/index.js';
import type { Store } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { Menu, MenuItem } from '../design/menu.js';
import { t } from '../i18n/t.js';
import { editing, inQuestion } from './editing.js';
import { canMove, moveLabelBy } from './folder-changes.js';

export function FolderMenu({ folder, store }: { readonly folder: Folder; readonly store: Store }) {
  const { id, name, role } = folder;
  const after = (close: () => void, run: () => void) => () => {
    close();
    run();
  };
  return (
    <Menu class="icon-button" label={<Icon name="ellipsis" />} name={t('organise.menu', { name })}>
      {(close) => (
        <>
          {role === 'label' ? (
            <LabelItems folder={folder} store={store} after={(run) => after(close, run)} />
          ) : (
            <>
              <MenuItem onChoose={after(close, () => begin({ what: 'folder', folder }))}>
                {t('organise.changeFolder')}
              </MenuItem>
              <MenuItem onChoose={after(close, () => begin({ what: 'folder', parent: folder }))}>
                {t('organise.newBelow')}
              </MenuItem>
            </>
          )}
          <MenuItem
            key={id}
            onChoose={after(close, () => {
              inQuestion.value = folder;
            })}
          >
            {t('organise.delete')}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}

interface LabelItemsProps {
  readonly folder: Folder;
  readonly store: Store;
  readonly after: (run: () => void) => () => void;
}

function LabelItems({ folder, store, after }: LabelItemsProps) {
  const { up, down } = canMove(store, folder.id);
  return (
    <>
      <MenuItem onChoose={after(() => begin({ what: 'label', folder }))}>{t('organise.changeLabel')}</MenuItem>
      {up && <MenuItem onChoose={after(() => moveLabelBy(store, folder.id, -1))}>{t('organise.up')}</MenuItem>}
      {down && <MenuItem onChoose={after(() => moveLabelBy(store, folder.id, 1))}>{t('organise.down')}</MenuItem>}
    </>
  );
}

function begin(edited: NonNullable<typeof editing.value>): void {
  editing.value = edited;
}
