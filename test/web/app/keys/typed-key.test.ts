// Tests which key of the page a press means, with what browsers tell of real keyboards.
import { type Press, typedKey } from '../../../../web/src/app/keys/typed-key.js';
import test from '../../../support/test.js';

type Modifier = 'Ctrl' | 'Alt' | 'Meta' | 'Shift' | 'AltGraph';

function press(key: string, code: string, ...modifiers: readonly Modifier[]): Press {
  return {
    key,
    code,
    ctrlKey: modifiers.includes('Ctrl'),
    altKey: modifiers.includes('Alt'),
    metaKey: modifiers.includes('Meta'),
    shiftKey: modifiers.includes('Shift'),
    getModifierState: (modifier) => modifiers.includes(modifier),
  };
}

test('a key without a modifier, or with Shift, means what it types', (t) => {
  for (const [key, code] of [
    ['j', 'KeyJ'],
    // A French keyboard has `a` and `m` at other places.
    ['a', 'KeyQ'],
    ['?', 'KeyM'],
    ['Enter', 'Enter'],
    ['Dead', 'KeyE'],
  ] as const)
    t.is(typedKey(press(key, code), false), key);
  t.is(typedKey(press('I', 'KeyI', 'Shift'), false), 'I');
  t.is(typedKey(press('#', 'Digit3', 'Shift'), false), '#');
  t.is(typedKey(press('ArrowDown', 'ArrowDown', 'Shift'), false), 'ArrowDown');
});

test('a sign that needs Option or AltGr is typed with it', (t) => {
  t.is(typedKey(press('#', 'Digit3', 'Alt'), true), '#', 'a British Mac');
  t.is(typedKey(press('#', 'Digit3', 'Alt', 'AltGraph'), true), '#', 'a Spanish Mac, in a browser that names AltGr');
  t.is(typedKey(press('#', 'Digit3', 'Ctrl', 'Alt', 'AltGraph'), false), '#', 'Spanish Windows');
  t.is(typedKey(press('#', 'Digit3', 'AltGraph'), false), '#', 'Spanish Linux');
});

test('a shortcut of the browser or the system is no key of the page', (t) => {
  for (const isApple of [true, false]) {
    for (const modifier of ['Ctrl', 'Meta'] as const) {
      t.is(typedKey(press('j', 'KeyJ', modifier), isApple), undefined);
      t.is(typedKey(press('#', 'Digit3', modifier), isApple), undefined);
      t.is(typedKey(press('о', 'KeyJ', modifier), isApple), undefined);
    }
    t.is(typedKey(press('e', 'KeyE', 'Alt'), isApple), undefined);
    t.is(typedKey(press('´', 'KeyE', 'Alt'), isApple), undefined);
    t.is(typedKey(press('ArrowUp', 'ArrowUp', 'Alt'), isApple), undefined);
    t.is(typedKey(press('#', 'Digit3', 'Ctrl', 'Alt'), isApple), undefined);
    t.is(typedKey(press('#', 'Digit3', 'Alt', 'Meta'), isApple), undefined);
  }
  t.is(typedKey(press('#', 'Digit3', 'Alt', 'Shift'), false), undefined, 'Alt with # of an American keyboard');
  t.is(typedKey(press('#', 'Digit3', 'Ctrl', 'AltGraph'), false), undefined, 'Ctrl with # of a Spanish keyboard');
});

test('a layout of another script has the keys of the page where an American keyboard has them', (t) => {
  for (const [key, code, meant] of [
    ['ت', 'KeyJ', 'j'],
    ['ث', 'KeyE', 'e'],
    // Two letters of one key.
    ['لا', 'KeyB', 'b'],
    ['ظ', 'Slash', '/'],
    ['و', 'Comma', ','],
    ['о', 'KeyJ', 'j'],
    ['ξ', 'KeyJ', 'j'],
    ['ㅓ', 'KeyJ', 'j'],
    ['ま', 'KeyJ', 'j'],
  ] as const)
    t.is(typedKey(press(key, code), false), meant);
  t.is(typedKey(press('÷', 'KeyI', 'Shift'), false), 'I');
  t.is(typedKey(press('’', 'KeyU', 'Shift'), false), 'U');
  t.is(typedKey(press('؟', 'Slash', 'Shift'), false), '?');
  t.is(typedKey(press('#', 'Digit3', 'Shift'), false), '#');
  t.is(typedKey(press('ж', 'Semicolon'), false), 'ж');
});

test('a character that a Latin layout adds means no other key', (t) => {
  t.is(typedKey(press('é', 'KeyW'), false), 'é', 'French Bépo');
  t.is(typedKey(press('ı', 'KeyI'), false), 'ı', 'Turkish');
  t.is(typedKey(press('€', 'KeyE', 'AltGraph'), false), '€', 'German');
  t.is(typedKey(press('ę', 'KeyE', 'AltGraph'), false), 'ę', 'Polish');
});
