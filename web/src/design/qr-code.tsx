// A QR code for the camera of a phone. The library that makes it is loaded with the first one.
import './qr-code.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/t.js';
import type { QrDrawing } from './qr-drawing.js';

export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const drawing = useSignal<QrDrawing | undefined>(undefined);
  const hasFailed = useSignal(false);
  useEffect(() => {
    let isGone = false;
    import('./qr-drawing.js').then(
      ({ qrDrawing }) => {
        if (!isGone) drawing.value = qrDrawing(text);
      },
      () => {
        hasFailed.value = true;
      },
    );
    return () => {
      isGone = true;
    };
  }, [text]);
  if (hasFailed.value) return <p class="problem">{t('settings.keys.qrNotLoaded')}</p>;
  const shown = drawing.value;
  if (shown === undefined) return null;
  return (
    <svg
      class="qr-code"
      viewBox={`0 0 ${shown.size} ${shown.size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <path d={shown.path} />
    </svg>
  );
}
