// Tests the conditions of a draft on the newest emails of the inbox, and shows which match. It changes nothing.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type EmailDetail, type MansioClient, NotFound } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { shortDate } from '../i18n/format.js';
import { formatNumber, t } from '../i18n/t.js';
import { conditionsOf, type FilterDraft, hasCondition } from './filter-draft.js';

const TESTED = 100;
const MOST_SHOWN = 10;

interface Result {
  readonly count: number;
  readonly untested: number;
  readonly emails: readonly EmailDetail[];
}

export function FilterTest({ draft }: { readonly draft: Signal<FilterDraft> }) {
  const { client, now } = useStore();
  const result = useSignal<Result | string | undefined>(undefined);
  const isTesting = useSignal(false);
  const conditions = JSON.stringify(conditionsOf(draft.value));
  // A result is of the conditions that were tested.
  useEffect(() => {
    result.value = undefined;
  }, [conditions]);
  const test = async () => {
    if (isTesting.peek()) return;
    isTesting.value = true;
    const found = await tested(client, draft.peek());
    isTesting.value = false;
    if (JSON.stringify(conditionsOf(draft.peek())) === conditions) result.value = found;
  };
  const { value } = result;
  return (
    <div class="filter-test">
      <button type="button" class="button" aria-disabled={isTesting} onClick={() => void test()}>
        {t('filters.test')}
      </button>
      <div role="status">
        {typeof value === 'string' && <p>{value}</p>}
        {typeof value === 'object' && (
          <p>
            {t('filters.matches', { count: value.count, tested: formatNumber(TESTED) })}{' '}
            {value.untested > 0 && t('filters.untested', { count: value.untested })}
          </p>
        )}
      </div>
      {typeof value === 'object' && value.emails.length > 0 && (
        <ul class="filter-matches" aria-label={t('filters.matching')}>
          {value.emails.map((email) => (
            <li key={email.id}>
              <a href={`/inbox/${email.id}`}>{email.subject || t('list.noSubject')}</a>
              <span class="hint">
                {email.fromDisplayName || email.fromAddress} · {shortDate(new Date(email.receivedAt), now.value)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

async function tested(client: MansioClient, draft: FilterDraft): Promise<Result | string> {
  if (!hasCondition(draft)) return t('filters.noCondition');
  try {
    const found = await client.request('POST', '/api/filters/test', {
      query: { limit: TESTED },
      body: conditionsOf(draft),
    });
    const ids = found.matchedEmailIds.slice(0, MOST_SHOWN);
    const emails = await Promise.all(ids.map((id) => emailOf(client, id)));
    return { count: found.matchCount, untested: found.untestedCount, emails: emails.flatMap((one) => one ?? []) };
  } catch (error) {
    return t('app.failed', { reason: reasonOf(error) });
  }
}

/** Undefined when it has been deleted since. */
async function emailOf(client: MansioClient, id: string): Promise<EmailDetail | undefined> {
  try {
    return await client.request('GET', '/api/emails/{id}', { params: { id } });
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
