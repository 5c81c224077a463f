// What the frame of a mail takes from the page: the nonce of its styles, and its colors where the mail has none of its own.
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Store } from '../../app/store.js';
import type { Palette } from './frame-document.js';

/** The nonce that the policy of the page allows for styles. */
export function styleNonce(): string {
  return document.querySelector<HTMLElement>('link[nonce]')?.nonce ?? '';
}

/** The colors of the page: tokens.css has both themes in each. */
export function pagePalette(isDark: boolean): Palette {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  return {
    scheme: isDark ? 'dark' : 'light',
    background: token('--panel'),
    text: token('--text'),
    soft: token('--soft'),
    line: token('--line'),
    link: token('--accent'),
  };
}

export function useIsDark({ preferences }: Pick<Store, 'preferences'>): ReadonlySignal<boolean> {
  const query = useSignal(matchMedia('(prefers-color-scheme: dark)'));
  const isSystemDark = useSignal(query.value.matches);
  useEffect(() => {
    const follow = ({ matches }: { readonly matches: boolean }) => {
      isSystemDark.value = matches;
    };
    const watched = query.value;
    watched.addEventListener('change', follow);
    return () => watched.removeEventListener('change', follow);
  }, [query]);
  return useComputed(() => {
    const theme = preferences.value?.theme ?? 'system';
    return theme === 'system' ? isSystemDark.value : theme === 'dark';
  });
}
