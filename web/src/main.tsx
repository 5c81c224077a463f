// Starts the page: its language, the client and the store over it, its router and keys, and the view.
import './design/tokens.css';
import './design/base.css';
import { render } from 'preact';
import { createClient } from '../../src/client/index.js';
import { App } from './app/app.js';
import { startKeyboard } from './app/keyboard.js';
import { resumeUndo } from './app/mail-actions.js';
import { startRouter } from './app/router.js';
import { Store, StoreContext } from './app/store.js';
import { startWorker } from './app/worker.js';
import { fetchWithProgress } from './compose/upload-progress.js';
import { installSprite } from './design/sprite.js';
import { chosenLanguage } from './i18n/language-choice.js';
import { currentLanguage, direction, setLanguage } from './i18n/t.js';
import { IndexedStorage } from './offline/indexed-storage.js';
import { startWith, takeReturned } from './sign-in/oidc.js';

// The list is asked for while the texts are loaded.
const store = new Store(createClient({ fetch: fetchWithProgress, storage: new IndexedStorage() }));
void startWith(store, takeReturned());
const chosen = chosenLanguage();
await setLanguage(
  chosen === undefined ? navigator.languages : [...navigator.languages.filter((one) => one.startsWith(chosen)), chosen],
);
document.documentElement.lang = currentLanguage();
document.documentElement.dir = direction();
installSprite();
startRouter();
startKeyboard();
resumeUndo(store);
const page = document.getElementById('page')!;
page.replaceChildren();
render(
  <StoreContext.Provider value={store}>
    <App />
  </StoreContext.Provider>,
  page,
);
startWorker();
