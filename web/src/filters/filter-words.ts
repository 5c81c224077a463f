// A filter as a sentence.
import { t } from '../i18n/t.js';
import type { FilterDraft } from './filter-draft.js';

/** `label`: the name of the label that it assigns. */
export function inWords(draft: FilterDraft, label: string | undefined): string {
  const { from, subject, body, attachments } = draft;
  const conditions = [
    from && t('filters.ifFrom', { words: from }),
    subject && t('filters.ifSubject', { words: subject }),
    body && t('filters.ifBody', { words: body }),
    attachments === 'with' && t('filters.ifWith'),
    attachments === 'without' && t('filters.ifWithout'),
  ];
  const actions = [
    draft.markAsRead && t('filters.thenRead'),
    draft.labelId && t('filters.thenLabel', { label: label ?? '' }),
    draft.delete && t('filters.thenDelete'),
  ];
  const listed = (parts: readonly (string | false)[]) => parts.filter(Boolean).join(t('filters.and'));
  return t('filters.words', { conditions: listed(conditions), actions: listed(actions) || t('filters.nothing') });
}
