// What a failure says to people: what the server's refusal says of the fields or as a whole, or that nothing answers.
import { t } from '../i18n/t.js';

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'NetworkFault') return t('app.noAnswer');
  if ('errors' in error && typeof error.errors === 'object') {
    const faults = Object.entries(error.errors as Readonly<Record<string, readonly string[]>>);
    if (faults.length > 0) return faults.map(([field, messages]) => `${field}: ${messages.join(', ')}`).join('; ');
  }
  return ('detail' in error && typeof error.detail === 'string' && error.detail) || error.message;
}
