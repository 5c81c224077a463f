// One thin line at the upper edge while the connection is being made again, or there is no network.
import './connection-line.css';
import { t } from '../i18n/t.js';
import { useStore } from './store.js';

export function ConnectionLine() {
  const { connection, isOffline } = useStore();
  const isShown = isOffline.value || connection.value === 'reconnecting';
  return (
    <div class="connection-line" role="status">
      {isShown && (
        <span>
          <span>{t(isOffline.value ? 'app.offline' : 'app.reconnecting')}</span>
        </span>
      )}
    </div>
  );
}
