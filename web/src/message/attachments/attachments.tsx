// The attachments of an email as cards: what can be shown opens in the page or in a tab of its own, and all can be saved.
import { useSignal } from '@preact/signals';
import './attachments.css';
import type { Attachment, EmailDetail } from '../../../../src/client/index.js';
import { sayFailed } from '../../app/failure.js';
import { useStore } from '../../app/store.js';
import { Icon } from '../../design/icon.js';
import { formatSize } from '../../i18n/format.js';
import { t } from '../../i18n/t.js';
import type { MessageModel } from '../message-model.js';
import { imageTypeOf, kindOf } from './attachment-kind.js';
import { inlineAttachments } from './inline-attachments.js';

/** Longer texts and images are for saving. */
const MOST_TEXT_BYTES = 2_000_000;
const MOST_IMAGE_BYTES = 40_000_000;

interface Props {
  readonly email: EmailDetail;
  readonly model: MessageModel;
}

export function Attachments({ email, model }: Props) {
  const inText = new Set(inlineAttachments(email.attachments, [...model.inlineImages.value.keys()]).values());
  const listed = email.attachments.filter((one) => !inText.has(one));
  if (listed.length === 0) return null;
  return (
    <section aria-label={t('message.attachments')}>
      <ul class="message-files">
        {listed.map((attachment) => (
          <li key={attachment.id} class="card message-file">
            <File attachment={attachment} email={email} model={model} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function File({ attachment, email, model }: Props & { readonly attachment: Attachment }) {
  const { client } = useStore();
  const isOpening = useSignal(false);
  const { icon, view } = kindOf(attachment);
  const url = client.attachmentUrl(email.id, attachment.id);
  const name = attachment.fileName || t('message.unnamed');
  const open = async () => {
    isOpening.value = true;
    try {
      await openFile(await client.blob(url), attachment, model);
    } catch (error) {
      sayFailed(error);
    }
    isOpening.value = false;
  };
  const description = (
    <>
      <Icon name={icon} />
      <span class="message-file-text">
        <bdi class="message-file-name">{name}</bdi>
        <span class="hint">{formatSize(attachment.sizeBytes)}</span>
      </span>
    </>
  );
  return (
    <>
      {view === undefined ? (
        <span class="message-file-open">{description}</span>
      ) : (
        <button
          type="button"
          class="message-file-open"
          aria-label={t('message.openFile', { name })}
          disabled={isOpening.value}
          onClick={() => void open()}
        >
          {description}
        </button>
      )}
      <a
        class="icon-button"
        href={url}
        download={name}
        aria-label={t('message.saveFile', { name })}
        title={t('message.save')}
      >
        <Icon name="download" />
      </a>
    </>
  );
}

async function openFile(file: Blob, attachment: Attachment, model: MessageModel): Promise<void> {
  const { view } = kindOf(attachment);
  if (view === 'pdf') {
    openTab(new Blob([file], { type: 'application/pdf' }));
  } else if (view === 'text') {
    const text = new TextDecoder(charsetOf(attachment)).decode(await file.slice(0, MOST_TEXT_BYTES).arrayBuffer());
    model.view({ attachment, text });
  } else {
    const type = await imageTypeOf(file);
    if (type === undefined || file.size > MOST_IMAGE_BYTES) throw new Error(t('message.noImage'));
    model.view({ attachment, url: URL.createObjectURL(new Blob([file], { type })) });
  }
}

/** The browser's viewer shows it: the type is named here, so it is never read as a page. */
function openTab(file: Blob): void {
  const url = URL.createObjectURL(file);
  window.open(url, '_blank', 'noopener');
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function charsetOf({ charset }: Attachment): string {
  try {
    return new TextDecoder(charset).encoding;
  } catch {
    return 'utf-8';
  }
}
