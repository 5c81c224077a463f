// The sections of the settings, in the order of their list. A section is a row here: its name in the address, its title, its view.
import type { ComponentType } from 'preact';
import type { IconName } from '../design/icon.js';
import { Filters } from '../filters/filters-section.js';
import type { PlainKey } from '../i18n/t.js';
import { About } from './about.js';
import { Devices } from './devices.js';
import { Forwarding } from './forwarding/forwarding.js';
import { General } from './general.js';
import { Keys } from './keys/keys.js';
import { Profile } from './profile.js';
import { Scripts } from './scripts/scripts.js';
import { Senders } from './senders.js';
import { Signature } from './signature.js';
import { Vacation } from './vacation/vacation.js';

export interface Section {
  /** The section is at `/settings/ID`. */
  readonly id: string;
  readonly title: Extract<PlainKey, `settings.section.${string}`>;
  readonly icon: IconName;
  readonly view: ComponentType;
}

export const SECTIONS: readonly Section[] = [
  { id: 'general', title: 'settings.section.general', icon: 'settings', view: General },
  { id: 'profile', title: 'settings.section.profile', icon: 'user', view: Profile },
  { id: 'signature', title: 'settings.section.signature', icon: 'pencil', view: Signature },
  { id: 'filters', title: 'settings.section.filters', icon: 'funnel', view: Filters },
  { id: 'forwarding', title: 'settings.section.forwarding', icon: 'forward', view: Forwarding },
  { id: 'vacation', title: 'settings.section.vacation', icon: 'calendar', view: Vacation },
  { id: 'scripts', title: 'settings.section.scripts', icon: 'file-text', view: Scripts },
  { id: 'senders', title: 'settings.section.senders', icon: 'triangle-alert', view: Senders },
  { id: 'devices', title: 'settings.section.devices', icon: 'monitor', view: Devices },
  { id: 'keys', title: 'settings.section.keys', icon: 'key', view: Keys },
  { id: 'about', title: 'settings.section.about', icon: 'file-text', view: About },
];
