// A filter as a sentence.
import { t } from '../i18n/t.js';
import type { FilterDraft } from './filter-draft.js';

/** `label` and `folder`: the names of the label that it assigns, and of the folder that it moves to. */
export function inWords(draft: FilterDraft, label: string | undefined, folder: string | undefined): string {
  const { from, to, cc, subject, body, list, fieldName, field, matches, attachments, atLeast, atMost } = draft;
  const conditions = [
    from && t('filters.ifFrom', { words: from }),
    to && t('filters.ifTo', { words: to }),
    cc && t('filters.ifCc', { words: cc }),
    subject && t('filters.ifSubject', { words: subject }),
    body && t('filters.ifBody', { words: body }),
    list && t('filters.ifList', { words: list }),
    fieldName &&
      (field ? t('filters.ifField', { name: fieldName, words: field }) : t('filters.ifAnyField', { name: fieldName })),
    matches && t('filters.ifMatches', { words: matches }),
    atLeast && t('filters.ifAtLeast', { size: atLeast }),
    atMost && t('filters.ifAtMost', { size: atMost }),
    attachments === 'with' && t('filters.ifWith'),
    attachments === 'without' && t('filters.ifWithout'),
  ];
  const actions = [
    draft.markAsRead && t('filters.thenRead'),
    draft.flag === true && t('filters.thenFlag'),
    typeof draft.flag === 'string' && draft.flag && t('filters.thenKeyword', { keyword: draft.flag }),
    draft.folderId && t('filters.thenMove', { folder: folder ?? '' }),
    draft.labelId && t('filters.thenLabel', { label: label ?? '' }),
    draft.forwardTo && t('filters.thenForward', { address: draft.forwardTo }),
    draft.delete && t('filters.thenDelete'),
    draft.stop && t('filters.thenStop'),
  ];
  const listed = (parts: readonly (string | false)[]) => parts.filter(Boolean).join(t('filters.and'));
  return t('filters.words', { conditions: listed(conditions), actions: listed(actions) || t('filters.nothing') });
}
