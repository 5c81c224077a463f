// A QR code that is shown when the reader asks for it, because it may contain a key.
import { useSignal } from '@preact/signals';
import { QrCode } from '../../design/qr-code.js';
import { t } from '../../i18n/t.js';

export function Scan({ text, hint }: { readonly text: string; readonly hint: string }) {
  const isOpen = useSignal(false);
  return (
    <details
      class="scan"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>{t('settings.keys.scan')}</summary>
      {isOpen.value && (
        <>
          <p>{hint}</p>
          <QrCode text={text} label={t('settings.keys.qrCode')} />
        </>
      )}
    </details>
  );
}
