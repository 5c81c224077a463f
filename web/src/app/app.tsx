// The frame of the page: the sign-in, or folders, list and message in columns; the strip of undo, the sheet of keys, the questions.
import './app.css';
import { FolderQuestion } from '../folders/folder-question.js';
import { Folders } from '../folders/folders.js';
import { t } from '../i18n/t.js';
import { ListPane } from '../list/list-pane.js';
import { SettingsHost } from '../settings/open.js';
import { SignIn } from '../sign-in/sign-in.js';
import { ConnectionLine } from './connection-line.js';
import { DeleteQuestion } from './delete-question.js';
import { KeysSheet } from './keys-sheet.js';
import { useMailKeys } from './mail-keys.js';
import { MessagePane } from './message-pane.js';
import { isListRoute } from './route.js';
import { route } from './router.js';
import { useStore } from './store.js';
import { UndoStrip } from './undo-strip.js';
import { ComposeButton, Writing } from './writing.js';

export function App() {
  return (
    <>
      <ConnectionLine />
      <Account />
      <UndoStrip />
      <KeysSheet />
    </>
  );
}

/** The mail is there before it is known whose it is, where the last visit of the browser was signed in. */
function Account() {
  const { access, isCutOff } = useStore();
  if (access.value === 'signedOut') return <SignIn />;
  if (access.value === 'signedIn') return <Mail />;
  if (isCutOff.value) return <NothingKept />;
  return access.value === 'expected' ? <Mail /> : <EmptyFrame />;
}

/** As index.html has it, which the first paint shows. */
function EmptyFrame() {
  return (
    <div class="mail" aria-hidden="true">
      <div class="folders" />
      <div class="panes">
        <div class="list-pane" />
        <div class="message-pane" />
      </div>
    </div>
  );
}

function Mail() {
  const store = useStore();
  const shown = route.value;
  const isList = isListRoute(shown);
  useMailKeys(store, isList);
  return (
    <div class={store.openId.value === undefined ? 'mail' : 'mail has-message'}>
      <Folders />
      <main class="panes">
        {isList ? (
          <>
            <ListPane />
            <MessagePane />
          </>
        ) : shown.view === 'settings' ? (
          <SettingsHost section={shown.section} />
        ) : (
          // Others lead to a list as soon as the account is known.
          shown.view === 'unknown' && <NotFound />
        )}
      </main>
      {isList && <ComposeButton place="corner" />}
      <DeleteQuestion />
      <FolderQuestion />
      <Writing />
    </div>
  );
}

function NothingKept() {
  return (
    <div class="not-found" role="status">
      <p>{t('app.nothingKept')}</p>
    </div>
  );
}

function NotFound() {
  return (
    <div class="not-found">
      <p>{t('app.notFound')}</p>
      <a class="button" href="/inbox">
        {t('app.toInbox')}
      </a>
    </div>
  );
}
