// The keys that are valid. What takes a key away from its program is asked about in place.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ApiKey } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import { useStore } from '../../app/store.js';
import { Icon } from '../../design/icon.js';
import { currentLocale, t } from '../../i18n/t.js';
import { Problem } from '../problem.js';
import { Question } from '../question.js';
import { lastUse, When } from '../when.js';
import type { KeyStore } from './key-store.js';
import type { Scope } from './purposes.js';

type Asked = 'replace' | 'revoke';

export function KeyList({ keys }: { readonly keys: KeyStore }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const said = useSignal('');
  const problem = useSignal('');
  const all = keys.keys.value ?? [];
  const carryOut = async (key: ApiKey, what: Asked) => {
    said.value = '';
    problem.value = '';
    try {
      if (what === 'replace') await keys.replace(key);
      else {
        await keys.revoke(key);
        said.value = t('settings.keys.revoked', { name: key.name });
        heading.current?.focus();
      }
    } catch (error) {
      problem.value = t('settings.keys.notChanged', { name: key.name, reason: reasonOf(error) });
    }
  };
  return (
    <div class="setting">
      <h3 ref={heading} tabIndex={-1}>
        {t('settings.keys.valid')}
      </h3>
      {all.length === 0 && <p class="hint">{t('settings.keys.none')}</p>}
      <ul class="setting-items">
        {all.map((key) => (
          <KeyRow key={key.id} of={key} onSure={(what) => void carryOut(key, what)} />
        ))}
      </ul>
      <p role="status">{said}</p>
      <Problem text={problem.value} />
    </div>
  );
}

function KeyRow({ of: key, onSure }: { readonly of: ApiKey; readonly onSure: (what: Asked) => void }) {
  const { now } = useStore();
  const question = useSignal<Asked | undefined>(undefined);
  const { name, scopes, lastUsedAt } = key;
  const asked = question.value;
  const ask = (what: Asked | undefined) => {
    question.value = what;
  };
  return (
    <li>
      <Icon name="key" />
      <div>
        <strong dir="auto">{name}</strong>
        <span>{scopesInWords(scopes)}</span>
        {lastUsedAt === null ? (
          <span>{t('settings.keys.neverUsed')}</span>
        ) : (
          <When at={lastUsedAt} now={now.value} text={lastUse} />
        )}
      </div>
      {asked === undefined ? (
        <div class="key-buttons">
          {(['replace', 'revoke'] as const).map((what) => (
            <button
              key={what}
              type="button"
              class="button"
              aria-label={t(`settings.keys.${what}Named`, { name })}
              onClick={() => ask(what)}
            >
              {t(`settings.keys.${what}`)}
            </button>
          ))}
        </div>
      ) : (
        <Question
          label={t(`settings.keys.${asked}Named`, { name })}
          text={t(`settings.keys.${asked}Question`)}
          action={t(`settings.keys.${asked}`)}
          onSure={() => {
            ask(undefined);
            onSure(asked);
          }}
          onCancel={() => ask(undefined)}
        />
      )}
    </li>
  );
}

function scopesInWords(scopes: readonly Scope[]): string {
  const names = scopes.map((scope) => t(`settings.keys.scope.${scope}`));
  return new Intl.ListFormat(currentLocale(), { type: 'conjunction' }).format(names);
}
