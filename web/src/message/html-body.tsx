// The HTML of an email, in a frame without scripts and origin. Pictures from elsewhere are not loaded until they are asked for, once or for
// all emails of their sender.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { EmailDetail } from '../../../src/client/index.js';
import { sayFailed } from '../app/failure.js';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { undo } from '../app/undo.js';
import { Icon } from '../design/icon.js';
import { t } from '../i18n/t.js';
import { SANDBOX, setFrameDocument } from './html/frame.js';
import { frameDocument, PAPER } from './html/frame-document.js';
import { pagePalette, styleNonce, useIsDark } from './html/page-styles.js';
import type { MessageModel } from './message-model.js';
import { hasProvenSender, showsPicturesOf, withoutSender, withSender } from './picture-senders.js';
import { TextBody } from './text-body.js';

/** How long a mail waits for images among its attachments before it is shown without them. */
const IMAGES_MS = 300;

interface Props {
  readonly email: EmailDetail;
  readonly model: MessageModel;
}

export function HtmlBody({ email, model }: Props) {
  const fault = useSignal<unknown>(undefined);
  useEffect(() => {
    prepare(email, model).catch((error: unknown) => {
      fault.value = error;
    });
  }, [email.htmlBody, model]);
  const mail = model.safeMail.value;
  if (fault.value !== undefined) {
    return (
      <>
        <p class="problem">{t('message.fault', { reason: reasonOf(fault.value) })}</p>
        <TextBody text={email.textBody} />
      </>
    );
  }
  return (
    <>
      {mail?.isCut && <p class="message-strip">{t('message.cutHtml')}</p>}
      {mail !== undefined && mail.remoteImages.length > 0 && <PictureStrip email={email} model={model} />}
      <Frame model={model} />
    </>
  );
}

async function prepare({ htmlBody }: EmailDetail, model: MessageModel): Promise<void> {
  const { safeMail } = await import('./html/safe-mail.js');
  const mail = safeMail(htmlBody, {
    misleads: (destination) => t('message.leadsTo', { destination }),
    showQuote: t('message.showQuote'),
  });
  if (mail.contentIds.length > 0) {
    const isShown = new Promise((resolve) => setTimeout(resolve, IMAGES_MS));
    await Promise.race([model.readInlineImages(mail.contentIds), isShown]);
  }
  model.safeMail.value = mail;
}

function PictureStrip({ email, model }: Props) {
  const store = useStore();
  const { pictures } = model;
  const senders = store.preferences.value?.pictureSenders;
  const isWanted = senders !== undefined && showsPicturesOf(senders, email);
  const show = () => {
    model.showPictures().catch(sayFailed);
  };
  useEffect(() => {
    if (isWanted && pictures.peek() === 'blocked') show();
  }, [isWanted, model]);
  if (pictures.value === 'shown' || (isWanted && pictures.value === 'loading')) return null;
  const { fromAddress } = email;
  const remember = async () => {
    try {
      await store.prefer({ pictureSenders: withSender(senders ?? [], fromAddress) });
      undo.offer({
        text: t('message.picturesAlways', { address: fromAddress }),
        undo: () => {
          const remembered = store.preferences.peek()?.pictureSenders ?? [];
          return store.prefer({ pictureSenders: withoutSender(remembered, fromAddress) });
        },
      });
    } catch (error) {
      sayFailed(error);
    }
  };
  return (
    <div class="message-strip">
      <Icon name="image" />
      <span>{t('message.pictures')}</span>
      <button type="button" class="message-strip-button" disabled={pictures.value === 'loading'} onClick={show}>
        {t('message.showPictures')}
      </button>
      {senders !== undefined && hasProvenSender(email) && (
        <button type="button" class="message-strip-button" onClick={() => void remember()}>
          {t('message.alwaysPictures', { address: fromAddress })}
        </button>
      )}
    </div>
  );
}

function Frame({ model }: Pick<Props, 'model'>) {
  const isDark = useIsDark(useStore());
  const shown = useComputed(() => {
    const mail = model.safeMail.value;
    if (mail === undefined) return undefined;
    return frameDocument(
      mail.content({ remote: model.remoteImages.value, byContentId: model.inlineImages.value }, true),
      {
        nonce: styleNonce(),
        origin: location.origin,
        palette: mail.usesColors ? PAPER : pagePalette(isDark.value),
        title: t('message.frame'),
      },
    );
  });
  const text = shown.value;
  // A frame that gets another document adds an entry to the history; a new frame does not.
  const version = useRef(0);
  const key = useMemo(() => ++version.current, [text]);
  return text === undefined ? (
    <div class="message-frame" aria-busy="true" />
  ) : (
    <DocumentFrame key={key} text={text} isPaper={model.safeMail.value?.usesColors === true} />
  );
}

function DocumentFrame({ text, isPaper }: { readonly text: string; readonly isPaper: boolean }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const isLoaded = useSignal(false);
  useLayoutEffect(() => {
    if (frame.current !== null) setFrameDocument(frame.current, text);
  }, [text]);
  return (
    <iframe
      ref={frame}
      class={isPaper ? 'message-frame is-paper' : 'message-frame'}
      sandbox={SANDBOX}
      referrerpolicy="no-referrer"
      title={t('message.frame')}
      aria-busy={!isLoaded.value}
      onLoad={() => {
        // The empty document of a new frame loads too.
        isLoaded.value = frame.current?.srcdoc !== '';
      }}
    />
  );
}
