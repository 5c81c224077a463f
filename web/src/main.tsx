// Starts the page: its language, its router and keys, and the view.
import './design/tokens.css';
import './design/base.css';
import { render } from 'preact';
import { App } from './app/app.js';
import { startKeyboard } from './app/keyboard.js';
import { startRouter } from './app/router.js';
import { installSprite } from './design/sprite.js';
import { currentLanguage, direction, setLanguage } from './i18n/t.js';

await setLanguage(navigator.languages);
document.documentElement.lang = currentLanguage();
document.documentElement.dir = direction();
installSprite();
startRouter();
startKeyboard();
render(<App />, document.getElementById('page')!);
