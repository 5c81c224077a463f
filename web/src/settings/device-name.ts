// The name of a browser in words, from its User-Agent field.
import { t } from '../i18n/t.js';
import { agentOf } from './user-agent.js';

export function deviceName(userAgent: string): string {
  const { browser, system } = agentOf(userAgent);
  if (browser !== undefined && system !== undefined) return t('settings.devices.browserOn', { browser, system });
  return browser ?? system ?? t('settings.devices.unknown');
}
