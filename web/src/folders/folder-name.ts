// The names and icons of folders: those of the system are in the reader's language.
import type { Folder } from '../../../src/client/index.js';
import type { Place } from '../app/route.js';
import type { IconName } from '../design/icon.js';
import { t } from '../i18n/t.js';

export const PLACE_ICONS: Readonly<Record<Place, IconName>> = {
  inbox: 'inbox',
  flagged: 'star',
  drafts: 'file-text',
  sent: 'send',
  archive: 'archive',
  junk: 'triangle-alert',
  trash: 'trash-2',
};

export function placeName(place: Place): string {
  switch (place) {
    case 'inbox':
      return t('folders.inbox');
    case 'flagged':
      return t('folders.flagged');
    case 'drafts':
      return t('folders.drafts');
    case 'sent':
      return t('folders.sent');
    case 'archive':
      return t('folders.archive');
    case 'junk':
      return t('folders.junk');
    case 'trash':
      return t('folders.trash');
  }
}

export function folderName({ name, role }: Pick<Folder, 'name' | 'role'>): string {
  return role === 'label' || role === 'folder' ? name : placeName(role);
}
