// Makes the HTML of a mail safe to show, in three steps of which each would do: DOMPurify, then a writer that knows only the elements and
// attributes of allowed-markup.ts, then the frame of frame-document.ts, which runs no script and has no origin. What is read once can be
// written again when images have been asked for.
import DOMPurify, { type Config } from 'dompurify';
import { ATTRIBUTES, ELEMENTS } from './allowed-markup.js';
import type { FrameContent } from './frame-document.js';
import { MailStyles } from './mail-styles.js';
import { rewrittenMarkup, STYLE_ATTRIBUTE } from './markup.js';
import { type ImageSources, MarkupWriter, type WrittenTexts } from './markup-writer.js';

/** The rest of a longer one is not shown. */
const MOST_CHARACTERS = 2_000_000;

const CONFIG: Config & { RETURN_DOM: true } = {
  ALLOWED_TAGS: ['html', 'head', 'body', ...ELEMENTS],
  ALLOWED_ATTR: [...ATTRIBUTES, STYLE_ATTRIBUTE],
  ADD_URI_SAFE_ATTR: [...ATTRIBUTES.filter((name) => name !== 'href' && name !== 'src'), STYLE_ATTRIBUTE],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|tel:|cid:|#|data:image\/(?:png|jpeg|gif|webp|avif);base64,)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOW_UNKNOWN_PROTOCOLS: false,
  FORBID_CONTENTS:
    'applet audio canvas datalist embed frameset math noscript object option select svg template video'.split(' '),
  RETURN_DOM: true,
  WHOLE_DOCUMENT: true,
};

export interface SafeMail {
  /** Addresses of its images on the web. */
  readonly remoteImages: readonly string[];
  /** Content-IDs of its images among the attachments. */
  readonly contentIds: readonly string[];
  /** It sets colors, so it needs the white paper for which it was made. */
  readonly usesColors: boolean;
  /** It is too long: its end is left out. */
  readonly isCut: boolean;
  content(images: ImageSources, isFolded: boolean): FrameContent;
}

export function safeMail(html: string, texts: WrittenTexts): SafeMail {
  const markup = rewrittenMarkup(html.slice(0, MOST_CHARACTERS));
  const root = DOMPurify.sanitize(markup.html, CONFIG);
  const styles = new MailStyles(markup.styles);
  const written = (images: ImageSources, isFolded: boolean) =>
    new MarkupWriter({ images, styles, texts, isFolded }).document(root);
  const first = written({ remote: new Map(), byContentId: new Map() }, false);
  return {
    remoteImages: first.remoteImages,
    contentIds: first.contentIds,
    usesColors: first.hasColors || styles.hasColors,
    isCut: html.length > MOST_CHARACTERS,
    content: (images, isFolded) => ({
      body: written(images, isFolded).html,
      styles: styles.rules,
      inlineStyles: styles.inlineRules,
    }),
  };
}
