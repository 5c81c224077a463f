// A link for one sign-in, as a QR code for the camera of a phone. It is shown until a device has used it, its time is over, or it is closed.
import './phone-sign-in.css';
import type { Signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Session } from '../../../../src/client/index.js';
import { useStore } from '../../app/store.js';
import { CopyButton } from '../../design/copy-button.js';
import { Icon } from '../../design/icon.js';
import { QrCode } from '../../design/qr-code.js';
import { t } from '../../i18n/t.js';
import { Problem } from '../problem.js';
import { type PhoneLink, usePhoneLink } from './use-phone-link.js';

interface PhoneSignInProps {
  readonly sessions: Signal<readonly Session[]>;
}

export function PhoneSignIn({ sessions }: PhoneSignInProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { link, said, problem, isBusy, make, withdraw } = usePhoneLink(useStore(), sessions);
  const shown = link.value;
  const wasShown = useRef(false);
  useLayoutEffect(() => {
    // What was used or read last is gone.
    if (wasShown.current || shown !== undefined) heading.current?.focus();
    wasShown.current = shown !== undefined;
  }, [shown]);
  return (
    <div class="setting">
      <h3 ref={heading} tabIndex={-1}>
        {t('settings.phone.title')}
      </h3>
      <p class="hint">{t('settings.phone.about')}</p>
      {shown !== undefined && <ShownLink link={shown} />}
      <p class="saving-note" role="status">
        {said}
      </p>
      <Problem text={problem.value} />
      <div>
        {shown === undefined ? (
          <button type="button" class="button" disabled={isBusy} onClick={() => void make()}>
            <Icon name="smartphone" />
            {t('settings.phone.show')}
          </button>
        ) : (
          <button type="button" class="button" onClick={withdraw}>
            {t('settings.phone.close')}
          </button>
        )}
      </div>
    </div>
  );
}

function ShownLink({ link: { url, minutes } }: { readonly link: PhoneLink }) {
  const { host, hostname } = location;
  return (
    <section class="phone-link card" aria-label={t('settings.phone.qrCode')}>
      <p>{t('settings.phone.scan', { count: minutes })}</p>
      {isLoopback(hostname) && <p class="problem">{t('settings.phone.local', { host })}</p>}
      <QrCode text={url} label={t('settings.phone.qrCode')} />
      <div class="phone-link-text">
        <code dir="ltr" tabIndex={0}>
          {url}
        </code>
        <CopyButton text={url} what={t('settings.phone.link')} />
      </div>
    </section>
  );
}

/** The name means this machine wherever it is opened. */
const isLoopback = (hostname: string): boolean => /^(?:localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
