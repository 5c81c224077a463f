// Says on the strip of undo that something did not work, and why.
import { t } from '../i18n/t.js';
import { reasonOf } from './reason.js';
import { undo } from './undo.js';

export function sayFailed(error: unknown): void {
  undo.say(failed(error));
}

export function failed(error: unknown): string {
  return t('app.failed', { reason: reasonOf(error) });
}
