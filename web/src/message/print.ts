// Prints an email: its header and its whole text, which a frame in the page would cut off. The frame that is printed runs no scripts. It has
// the page's origin, because a browser lets a page print only a frame of its own origin, and a frame without scripts cannot print itself.
import type { EmailDetail } from '../../../src/client/index.js';
import { longDate } from '../i18n/format.js';
import { t } from '../i18n/t.js';
import { setFrameDocument } from './html/frame.js';
import { escaped, type FrameContent, frameDocument, PAPER } from './html/frame-document.js';
import { styleNonce } from './html/page-styles.js';
import type { MessageModel } from './message-model.js';

const SANDBOX = 'allow-same-origin allow-modals';
const FRAME_ID = 'message-print';

/** Resolves when the browser has been asked to print. */
export async function printEmail(email: EmailDetail, model: MessageModel): Promise<void> {
  document.getElementById(FRAME_ID)?.remove();
  const frame = document.createElement('iframe');
  frame.id = FRAME_ID;
  frame.className = 'message-print';
  frame.title = t('message.print');
  frame.setAttribute('aria-hidden', 'true');
  frame.tabIndex = -1;
  frame.setAttribute('sandbox', SANDBOX);
  const options = {
    nonce: styleNonce(),
    origin: location.origin,
    palette: PAPER,
    title: email.subject,
    head: headHtml(email),
  };
  const isLoaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  setFrameDocument(frame, frameDocument(contentOf(email, model), options));
  document.body.append(frame);
  await isLoaded;
  frame.contentWindow?.addEventListener('afterprint', () => frame.remove(), { once: true });
  frame.contentWindow?.print();
}

function contentOf({ textBody }: EmailDetail, model: MessageModel): FrameContent {
  const images = { remote: model.remoteImages.peek(), byContentId: model.inlineImages.peek() };
  return (
    model.safeMail.peek()?.content(images, false) ?? {
      body: `<body dir="auto"><pre class="mansio-text">${escaped(textBody)}</pre></body>`,
      styles: '',
      inlineStyles: '',
    }
  );
}

function headHtml({ subject, fromDisplayName, fromAddress, recipients, receivedAt, attachments }: EmailDetail): string {
  const person = (name: string, address: string) => (name === '' ? address : `${name} <${address}>`);
  const people = (type: string) =>
    recipients
      .filter((one) => one.type === type)
      .map(({ displayName, address }) => person(displayName, address))
      .join(', ');
  const lines = [
    [t('message.from'), person(fromDisplayName, fromAddress)],
    [t('message.toField'), people('To')],
    [t('message.cc'), people('Cc')],
    [t('message.received'), longDate(new Date(receivedAt))],
    [t('message.attachments'), attachments.map(({ fileName }) => fileName).join(', ')],
  ];
  const rows = lines
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<p dir="auto"><b>${escaped(name!)}:</b> ${escaped(value!)}</p>`);
  return `<header class="mansio-head"><h1 dir="auto">${escaped(subject)}</h1>${rows.join('')}</header>`;
}
