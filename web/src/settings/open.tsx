// The settings within the frame of the page. What shows them is loaded when they are opened first.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/t.js';

interface SettingsProps {
  /** As the address names it; empty without a section. */
  readonly section: string;
}

const loaded = signal<ComponentType<SettingsProps> | undefined>(undefined);
const hasFailed = signal(false);

export function SettingsHost({ section }: SettingsProps) {
  useEffect(() => void load(), []);
  const Settings = loaded.value;
  if (Settings !== undefined) return <Settings section={section} />;
  if (!hasFailed.value) return null;
  return (
    <div class="not-found" role="alert">
      <p>{t('settings.notLoaded')}</p>
      <button type="button" class="button" onClick={() => void load()}>
        {t('settings.again')}
      </button>
    </div>
  );
}

async function load(): Promise<void> {
  if (loaded.peek() !== undefined) return;
  hasFailed.value = false;
  try {
    const { Settings } = await import('./settings.js');
    loaded.value = Settings;
  } catch {
    hasFailed.value = true;
  }
}
