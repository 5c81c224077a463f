// One attachment in place of the message: an image, or text.
import './attachments.css';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useStore } from '../../app/store.js';
import { Icon } from '../../design/icon.js';
import { t } from '../../i18n/t.js';
import type { MessageModel, ViewedFile } from '../message-model.js';

export function Viewer({ shown, model }: { readonly shown: ViewedFile; readonly model: MessageModel }) {
  const { client } = useStore();
  const { attachment, url, text } = shown;
  const back = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => back.current?.focus(), [attachment.id]);
  return (
    <section class="message-viewer" aria-label={attachment.fileName}>
      <div class="message-viewer-bar">
        <button type="button" ref={back} class="button is-plain" onClick={() => model.view(undefined)}>
          <Icon name="arrow-left" /> {t('message.backToMessage')}
        </button>
        <bdi class="message-file-name">{attachment.fileName}</bdi>
        <a
          class="button is-plain"
          href={client.attachmentUrl(model.email.id, attachment.id)}
          download={attachment.fileName}
        >
          <Icon name="download" /> {t('message.save')}
        </a>
      </div>
      {url === undefined ? (
        <pre class="message-source" dir="auto">
          {text}
        </pre>
      ) : (
        <img class="message-picture" src={url} alt={attachment.fileName} />
      )}
    </section>
  );
}
