// What this page is: its version, its licence, and those of the libraries in it, which the build has collected (web/licenses.mjs).
import { t } from '../i18n/t.js';

export function About() {
  return (
    <div class="setting">
      <p>{t('settings.about.license', { version: PRODUCT_VERSION })}</p>
      <p>
        <a href="/licenses.txt" target="_blank" rel="noopener noreferrer">
          {t('settings.about.licenses')}
        </a>
      </p>
    </div>
  );
}
