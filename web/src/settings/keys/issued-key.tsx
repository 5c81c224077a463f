// A key that has just been made, the only time that it is seen, with what the program asks for besides it.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ConnectionInfo } from '../../../../src/client/index.js';
import { useStore } from '../../app/store.js';
import { CopyButton } from '../../design/copy-button.js';
import { t } from '../../i18n/t.js';
import type { KeyStore } from './key-store.js';
import { thunderbirdAccount } from './phone-setup.js';
import { Scan } from './scan.js';
import { ServerList } from './server-list.js';

export function IssuedKey({ keys, info }: { readonly keys: KeyStore; readonly info: ConnectionInfo }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const issued = keys.issued.value;
  const owner = useStore().profile.value;
  useLayoutEffect(() => {
    heading.current?.focus();
  }, [issued]);
  if (issued === undefined) return null;
  const account = owner && thunderbirdAccount(issued, info, owner);
  const protocols = issued.scopes.filter((scope) => scope === 'imap' || scope === 'pop3' || scope === 'smtp');
  return (
    <section class="issued-key card" aria-labelledby="issued-key">
      <h3 id="issued-key" ref={heading} tabIndex={-1}>
        {t('settings.keys.issued', { name: issued.name })}
      </h3>
      <p>{t('settings.keys.once')}</p>
      <div class="issued-key-text">
        <code dir="ltr" tabIndex={0}>
          {issued.apiKey}
        </code>
        <CopyButton text={issued.apiKey} what={t('settings.keys.theKey')} />
      </div>
      {protocols.length > 0 && (
        <>
          <p>{t('settings.keys.type')}</p>
          <ServerList info={info} protocols={protocols} />
        </>
      )}
      {account !== undefined && <Scan text={account} hint={t('settings.keys.scanAccount')} />}
      <div>
        <button
          type="button"
          class="button"
          onClick={() => {
            keys.issued.value = undefined;
          }}
        >
          {t('settings.keys.done')}
        </button>
      </div>
    </section>
  );
}
