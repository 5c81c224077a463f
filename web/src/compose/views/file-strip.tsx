// The files of a draft, with how much of each has been sent to the server.
import { Icon } from '../../design/icon.js';
import { formatSize } from '../../i18n/format.js';
import { t } from '../../i18n/t.js';
import type { ComposeWindow } from '../compose-window.js';
import type { DraftSaver } from '../draft-saver.js';

interface StripProps {
  readonly saver: DraftSaver;
  readonly window: ComposeWindow;
  readonly onChange: () => void;
}

export function FileStrip({ saver, window, onChange }: StripProps) {
  const files = window.files.value.filter(({ contentId }) => contentId === null);
  if (files.length === 0) return null;
  return (
    <ul class="compose-files" aria-label={t('compose.files')}>
      {files.map(({ key, fileName, size, stored }) => (
        <li key={key} class="card">
          <Icon name="file" />
          <span class="compose-file-name" dir="auto">
            {fileName}
          </span>
          <span class="hint">{formatSize(size)}</span>
          {stored === null && (
            <progress
              aria-label={t('compose.uploading', { name: fileName })}
              max={1}
              value={saver.progress.value.get(key) ?? 0}
            />
          )}
          <button
            type="button"
            class="icon-button"
            aria-label={t('compose.remove', { name: fileName })}
            onClick={() => {
              window.removeFile(key);
              onChange();
            }}
          >
            <Icon name="x" />
          </button>
        </li>
      ))}
    </ul>
  );
}
