// What a failure says to people: the sentence of the server's refusal, or that nothing answers.
import { t } from '../i18n/t.js';

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'NetworkFault') return t('app.noAnswer');
  return ('detail' in error && typeof error.detail === 'string' && error.detail) || error.message;
}
