// Writing within the frame of the page: its windows for whoever is signed in, the buttons and keys that open them, and drafts in lists.
import './writing.css';
import { useEffect } from 'preact/hooks';
import { signatureFrom } from '../compose/identities.js';
import { mailtoFields } from '../compose/mailto.js';
import { ComposeHost, compose } from '../compose/open.js';
import { Timeline } from '../compose/views/timeline.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { bindKeys, holdKeys, type Shortcut } from './keyboard.js';
import { isListRoute, withEmail } from './route.js';
import { go, route } from './router.js';
import { type Store, useStore } from './store.js';

export function Writing() {
  const store = useStore();
  const account = store.profile.value?.email;
  useEffect(() => {
    if (account === undefined) return;
    compose.start({
      client: store.client,
      account,
      own: () => ownAddresses(store),
      signature: (from) => signatureFrom(store.preferences.peek(), from),
      hasSignatures: () => store.preferences.peek()?.identities.some(({ signature }) => signature) === true,
    });
    return () => (store.hasEnded.peek() ? compose.pause() : compose.stop());
  }, [account]);
  useEffect(() => bindKeys('write', keys(store)), [store]);
  const { value: shown } = route;
  useEffect(() => {
    if (account === undefined) return;
    if (shown.view === 'compose') {
      go({ view: 'place', place: 'drafts' }, { replace: true });
      holdKeys(compose.open({ kind: 'draft', draftId: shown.draftId }));
    } else if (shown.view === 'mailto') {
      go({ view: 'place', place: 'inbox' }, { replace: true });
      holdKeys(compose.open({ kind: 'new', ...mailtoFields(shown.link) }));
    }
  }, [shown, account]);
  return <ComposeHost />;
}

/** `place`: the corner has one while there are no folders besides the list. */
export function ComposeButton({ place }: { readonly place: 'folders' | 'corner' }) {
  return (
    <button
      type="button"
      class={place === 'folders' ? 'button is-main compose-button' : 'button is-main compose-corner'}
      aria-label={t('compose.compose')}
      onClick={() => holdKeys(compose.open({ kind: 'new' }))}
    >
      <Icon name="pencil" />
      {place === 'folders' && (
        <>
          <span>{t('compose.compose')}</span>
          <span class="compose-key" aria-hidden="true">
            c
          </span>
        </>
      )}
    </button>
  );
}

export function ReplyButtons({ emailId }: { readonly emailId: string }) {
  return (
    <span class="reply-buttons">
      {(['reply', 'replyAll', 'forward'] as const).map((kind) => (
        <button
          key={kind}
          type="button"
          class="button is-plain"
          aria-label={t(`compose.${kind}`)}
          title={t(`compose.${kind}`)}
          onClick={() => holdKeys(compose.open({ kind, emailId }))}
        >
          <Icon name={kind === 'replyAll' ? 'reply-all' : kind} />
          <span>{t(`compose.${kind}`)}</span>
        </button>
      ))}
    </span>
  );
}

/** The way of an email that the account has sent, above it. */
export function SentSteps({ id }: { readonly id: string }) {
  const { list, client } = useStore();
  const outboundId = list.item(id)?.outboundId;
  if (outboundId === undefined) return null;
  return (
    <details class="sent-steps" open>
      <summary>{t('compose.timeline')}</summary>
      <Timeline
        key={outboundId}
        client={client}
        outboundId={outboundId}
        onUndone={(draftId) => holdKeys(compose.open({ kind: 'draft', draftId }))}
      />
    </details>
  );
}

/** Opens an email of the list: a draft in a window of its own, anything else besides the list. */
export function openListed({ list }: Store, id: string): void {
  const draftId = list.item(id)?.draftId;
  if (draftId === undefined) go(withEmail(list.route.peek(), id));
  else holdKeys(compose.open({ kind: 'draft', draftId }));
}

function keys({ list, openId }: Store): Shortcut[] {
  const answer = (kind: 'reply' | 'replyAll' | 'forward') => () => {
    const emailId = openId.peek() ?? list.cursorId.peek();
    if (emailId === undefined || !isListRoute(route.peek())) return false;
    holdKeys(compose.open({ kind, emailId }));
    return true;
  };
  return [
    { keys: 'c', text: 'compose.compose', run: () => holdKeys(compose.open({ kind: 'new' })) },
    { keys: 'r', text: 'compose.reply', run: answer('reply') },
    { keys: 'a', text: 'compose.replyAll', run: answer('replyAll') },
    { keys: 'f', text: 'compose.forward', run: answer('forward') },
  ];
}

function ownAddresses({ profile }: Store): readonly string[] {
  const of = profile.peek();
  if (of === undefined) return [];
  const additional = of.additionalAddresses.filter(({ canSend }) => canSend).map(({ address }) => address);
  return [of.email, ...additional];
}
