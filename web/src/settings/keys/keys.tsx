// Keys for mail programs: made for a purpose, shown once with what a program asks for, replaced and revoked.
import './keys.css';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { reasonOf } from '../../app/reason.js';
import { useStore } from '../../app/store.js';
import { t } from '../../i18n/t.js';
import { Problem } from '../problem.js';
import { IssuedKey } from './issued-key.js';
import { KeyList } from './key-list.js';
import { KeyStore } from './key-store.js';
import { NewKey } from './new-key.js';
import { ServerList } from './server-list.js';

export function Keys() {
  const { client } = useStore();
  const keys = useMemo(() => new KeyStore(client), [client]);
  const problem = useSignal('');
  const read = () => {
    problem.value = '';
    keys.read().catch((error: unknown) => {
      problem.value = t('settings.keys.notRead', { reason: reasonOf(error) });
    });
  };
  useEffect(read, [keys]);
  const info = keys.info.value;
  return (
    <>
      <p class="hint">{t('settings.keys.about')}</p>
      <Problem text={problem.value} again={read} />
      {info !== undefined && (
        <>
          <NewKey keys={keys} info={info} />
          <IssuedKey keys={keys} info={info} />
          <KeyList keys={keys} />
          <div class="setting">
            <h3>{t('settings.keys.servers')}</h3>
            <ServerList info={info} />
          </div>
        </>
      )}
    </>
  );
}
