// What the mailbox uses and may use, in words. Pure.
import type { Quota, QuotaResource } from '../../../src/client/index.js';
import { formatSize } from '../i18n/format.js';
import { t } from '../i18n/t.js';

/** One line per resource. */
export interface StorageLine {
  readonly text: string;
  /** The share that is in use, from 0 to 1; undefined without a limit. */
  readonly share: number | undefined;
}

export function storageLines({ bytes, messages }: Quota): readonly StorageLine[] {
  const [used, limit] = [formatSize(bytes.used), bytes.limit === null ? '' : formatSize(bytes.limit)];
  return [
    {
      text:
        bytes.limit === null ? t('settings.storage.bytes', { used }) : t('settings.storage.bytesOf', { used, limit }),
      share: shareOf(bytes),
    },
    {
      text:
        messages.limit === null
          ? t('settings.storage.messages', { count: messages.used })
          : t('settings.storage.messagesOf', { used: messages.used, count: messages.limit }),
      share: shareOf(messages),
    },
  ];
}

/** Whether the user should make room. */
export const isScarce = ({ share }: StorageLine): boolean => share !== undefined && share >= 0.9;

function shareOf({ used, limit }: QuotaResource): number | undefined {
  return limit === null ? undefined : Math.min(1, used / limit);
}
