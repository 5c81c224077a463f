// One thin line at the upper edge while the connection is being made again.
import './connection-line.css';
import { t } from '../i18n/t.js';
import { useStore } from './store.js';

export function ConnectionLine() {
  const { connection } = useStore();
  const isShown = connection.value === 'reconnecting';
  return (
    <div class="connection-line" role="status">
      {isShown && <span>{t('app.reconnecting')}</span>}
    </div>
  );
}
