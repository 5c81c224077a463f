// The frame of the settings: the list of sections besides the section that is open. On a phone it is one of the two.
import './settings.css';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { bindKeys } from '../app/keyboard.js';
import { go } from '../app/router.js';
import { type Store, useStore } from '../app/store.js';
import { Icon } from '../design/icon.js';
import { DrawerButton } from '../folders/folders.js';
import { t } from '../i18n/t.js';
import { SECTIONS, type Section } from './sections.js';

export function Settings({ section: id }: { readonly section: string }) {
  const store = useStore();
  useEffect(() => bindKeys('list', leaving(store)), [store]);
  const named = SECTIONS.find((one) => one.id === id);
  const shown = id === '' ? SECTIONS[0]! : named;
  return (
    <div class={id === '' ? 'settings' : 'settings has-section'}>
      <Sections shown={shown} />
      {shown === undefined ? (
        <p class="settings-section">{t('app.notFound')}</p>
      ) : (
        <OpenSection key={shown.id} section={shown} isNamed={id !== ''} />
      )}
    </div>
  );
}

function Sections({ shown }: { readonly shown: Section | undefined }) {
  return (
    <nav class="settings-list" aria-label={t('settings.title')}>
      <header>
        <DrawerButton />
        <h1>{t('settings.title')}</h1>
      </header>
      <ul>
        {SECTIONS.map((section) => (
          <li key={section.id}>
            <a href={`/settings/${section.id}`} aria-current={section === shown ? 'page' : undefined}>
              <Icon name={section.icon} />
              {t(section.title)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function OpenSection({ section, isNamed }: { readonly section: Section; readonly isNamed: boolean }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${t(section.title)} · Mansio`;
    if (isNamed) heading.current?.focus();
  }, [section, isNamed]);
  const View = section.view;
  return (
    <section class="settings-section" aria-labelledby="settings-heading">
      <header>
        <a class="icon-button settings-back" href="/settings" aria-label={t('app.back')}>
          <Icon name="arrow-left" />
        </a>
        <h2 id="settings-heading" ref={heading} tabIndex={-1}>
          {t(section.title)}
        </h2>
      </header>
      <View />
    </section>
  );
}

/** Back to the list that was shown before. */
function leaving({ list }: Store) {
  const run = () => go(list.route.peek());
  return [
    { keys: 'u', text: 'keys.backToList' as const, run },
    { keys: 'Escape', text: 'keys.backToList' as const, run },
  ];
}
