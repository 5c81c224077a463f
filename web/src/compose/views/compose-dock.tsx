// All compose windows at the lower right: open ones side by side, those put away as a bar, and what becomes of those that were sent.
import './compose.css';
import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../design/icon.js';
import { t } from '../../i18n/t.js';
import type { ComposeContext } from '../open.js';
import { claimTab } from '../tabs.js';
import { ComposeWindows, type OpenWindow } from '../windows.js';
import { ComposeCard } from './compose-card.js';
import { SentCard } from './sent-card.js';

/** `show`: gets what renders the windows. */
export async function startDock(context: ComposeContext, show: (dock: ComponentType) => void): Promise<ComposeWindows> {
  const windows = new ComposeWindows(context, await claimTab());
  show(() => <ComposeDock windows={windows} />);
  await windows.restore();
  return windows;
}

function ComposeDock({ windows }: { readonly windows: ComposeWindows }) {
  const open = windows.open.value;
  if (open.length === 0) return null;
  return (
    <aside class="compose-dock" aria-label={t('compose.windows')}>
      {open.map((one) => (
        <OneWindow key={one.window.id} windows={windows} one={one} />
      ))}
    </aside>
  );
}

function OneWindow({ windows, one }: { readonly windows: ComposeWindows; readonly one: OpenWindow }) {
  const { id } = one.window;
  useEffect(() => () => void setTimeout(() => windows.returnFocus(id)), [id]);
  if (one.saver.state.value.phase === 'sent') return <SentCard windows={windows} one={one} />;
  if (one.window.isMinimised.value) return <PutAway windows={windows} one={one} />;
  return <ComposeCard windows={windows} one={one} />;
}

function PutAway({ windows, one }: { readonly windows: ComposeWindows; readonly one: OpenWindow }) {
  const title = one.window.name() || t('compose.new');
  const { phase } = one.saver.state.value;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) button.current?.focus();
  }, []);
  const needsCare = phase === 'conflict' || phase === 'gone' || phase === 'failed';
  return (
    <div class="compose-away">
      <button ref={button} type="button" aria-expanded="false" onClick={() => windows.minimise(one, false)}>
        {needsCare && <Icon name="circle-alert" />}
        <span dir="auto">{title}</span>
        <Icon name="chevron-up" />
      </button>
    </div>
  );
}
