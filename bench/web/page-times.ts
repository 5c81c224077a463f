// What runs in the page before its own scripts: it notes when something is painted. A change of the document is seen by a MutationObserver;
// it is painted when the frame after the change has been made, so the time is that of the first task after this frame.

/**
 * `times` in the page, whose values are promises. All times are in ms: `rowsMs` since the navigation, `of` since 1970, `opened` since the key was pressed.
 *
 * - `rowsMs`: when the first rows with emails were painted;
 * - `rowAfter(position)`: resolves when a row after this position of the list is painted;
 * - `row(text)`, then `of()`: when a row with this text was painted;
 * - `open()`, then `opened()`: how long the next Enter takes until the title and the body of another email are painted;
 * - `scroll(rows, step)`: the times between frames while `rows` rows are scrolled by `step` px per frame, and in how many of these frames a row
 *   was seen that was not loaded.
 */
export const PAGE_TIMES = `(() => {
  const waiting = new Set();
  const afterFrame = (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = then;
    port2.postMessage(0);
  });
  const look = () => {
    for (const one of waiting) {
      if (!one.isThere()) continue;
      waiting.delete(one);
      afterFrame(() => one.resolve());
    }
  };
  const observed = { subtree: true, childList: true, attributes: true, characterData: true };
  new MutationObserver(look).observe(document, observed);
  const painted = (isThere) => new Promise((resolve) => {
    waiting.add({ isThere, resolve });
    look();
  });
  const rows = () => [...document.querySelectorAll('[role=option][data-id]')];
  const times = { rowsMs: painted(() => rows().length > 0).then(() => performance.now()) };
  times.rowAfter = (position) => painted(() => rows().some(({ ariaPosInSet }) => ariaPosInSet > position)).then(() => undefined);
  times.row = (text) => {
    const at = painted(() => rows().some((row) => row.textContent.includes(text))).then(() => Date.now());
    times.of = () => at;
  };
  times.open = () => {
    const before = document.querySelector('article.message');
    const took = new Promise((resolve) => {
      addEventListener('keydown', ({ timeStamp }) => {
        const isThere = () => {
          const article = document.querySelector('article.message');
          if (article === null || article === before || article.querySelector('h1').textContent === '') return false;
          return article.querySelector('.message-text, iframe[aria-busy=false]') !== null;
        };
        painted(isThere).then(() => resolve(performance.now() - timeStamp));
      }, { once: true, capture: true });
    });
    times.opened = () => took;
  };
  times.scroll = (count, step) => new Promise((resolve) => {
    const element = document.querySelector('.list-scroll');
    const end = Math.min(element.scrollTop + count * rows()[0].offsetHeight, element.scrollHeight - element.clientHeight);
    const frames = [];
    let before;
    let isWaiting = 0;
    const frame = (now) => {
      if (before !== undefined) {
        frames.push(now - before);
        const { top, bottom } = element.getBoundingClientRect();
        const isSeen = (row) => {
          const at = row.getBoundingClientRect();
          return at.bottom > top && at.top < bottom;
        };
        if ([...document.querySelectorAll('.row.is-waiting')].some(isSeen)) isWaiting++;
      }
      before = now;
      if (element.scrollTop >= end) return resolve({ frames, isWaiting });
      element.scrollTop += step;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  globalThis.times = times;
})()`;
