// Between the HTML of mail and the editor. What comes in (quotes, signatures, drafts, pastes) is made safe by DOMPurify in a document that
// loads nothing; images of the message (`cid:`) get their place and are filled by the caller, images from elsewhere are never loaded. What
// goes out names the images as the message has them.
import DOMPurify from 'dompurify';
import { percentDecoded } from '../app/percent-decoding.js';
import { rewrittenMarkup, STYLE_ATTRIBUTE } from '../message/html/markup.js';
import { plainText, type TextNode } from './plain-text.js';
import { safeDeclarations } from './safe-style.js';

const CID = 'data-cid';
const REMOTE = 'data-remote';
/** The class of the writer's signature; no other class is kept. */
const SIGNATURE = 'signature';

/** Elements that take input, load, or stand apart from the text. */
const FORBIDDEN = (
  'style link meta base title form input button select option optgroup textarea fieldset dialog details summary meter progress output ' +
  'datalist audio video source track picture map area svg math template slot marquee menu'
).split(' ');
const ALLOWED = (
  'href src alt title width height align valign dir lang type start style bgcolor border cellpadding cellspacing colspan rowspan color ' +
  'face size'
).split(' ');

/** Safe to put into the page. Images of the message have the attribute `data-cid` and nothing to load. */
export function editorFragment(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(rewrittenMarkup(html).html, {
    RETURN_DOM_FRAGMENT: true,
    FORBID_TAGS: FORBIDDEN,
    ALLOWED_ATTR: [...ALLOWED, CID, REMOTE, STYLE_ATTRIBUTE, 'class'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ADD_URI_SAFE_ATTR: [CID, STYLE_ATTRIBUTE],
    // Values of other attributes are asked about too: what is no URL passes.
    ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto|tel|cid):|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
  });
  for (const element of fragment.querySelectorAll<HTMLElement>('*')) tamed(element);
  return fragment;
}

function tamed(element: HTMLElement): void {
  if (element.className !== SIGNATURE) element.removeAttribute('class');
  const style = element.getAttribute(STYLE_ATTRIBUTE) ?? element.getAttribute('style') ?? '';
  element.removeAttribute(STYLE_ATTRIBUTE);
  element.removeAttribute('style');
  // The policy of the page refuses style attributes; what is set by name is none.
  for (const [name, value] of safeDeclarations(style)) element.style.setProperty(name, value);
  // Links that lead nowhere outside of their mail would lead into the page.
  if (element.nodeName === 'A' && !/^(?:https?|mailto|tel):/i.test(element.getAttribute('href') ?? '')) {
    element.removeAttribute('href');
  }
  if (element.nodeName === 'IMG') {
    if (!element.hasAttribute('alt')) element.setAttribute('alt', '');
    const source = element.getAttribute('src') ?? '';
    if (/^cid:/i.test(source)) element.setAttribute(CID, percentDecoded(source.slice('cid:'.length)));
    else if (/^https?:/i.test(source)) element.setAttribute(REMOTE, source);
    if (!/^data:image\/(?:png|jpe?g|gif|webp|avif);/i.test(source)) element.removeAttribute('src');
    // One that has nothing to show, such as a file of another computer, is its text.
    const isEmpty = !['src', CID, REMOTE].some((name) => element.hasAttribute(name));
    if (isEmpty) element.replaceWith(element.getAttribute('alt') ?? '');
  } else element.removeAttribute('src');
}

/** Takes the editor's own HTML apart, as it was: markup that was made safe before, with the editor's marks. */
export function ownFragment(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(rewrittenMarkup(html).html, {
    RETURN_DOM_FRAGMENT: true,
    ADD_URI_SAFE_ATTR: [CID, STYLE_ATTRIBUTE],
    ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto|tel|blob):|data:image\/|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
  });
  for (const element of fragment.querySelectorAll<HTMLElement>(`[${STYLE_ATTRIBUTE}]`)) {
    element.style.cssText = element.getAttribute(STYLE_ATTRIBUTE) ?? '';
    element.removeAttribute(STYLE_ATTRIBUTE);
  }
  return fragment;
}

/** The images that wait for their content, by the name that the message gives them. */
export function waitingImages(
  root: ParentNode,
): readonly { readonly contentId: string; readonly image: HTMLImageElement }[] {
  return [...root.querySelectorAll<HTMLImageElement>(`img[${CID}]:not([src])`)].map((image) => ({
    contentId: image.getAttribute(CID) ?? '',
    image,
  }));
}

/** The attributes of an image that was pasted or dropped. */
export const imageAttributes = (contentId: string, alt: string): Record<string, string> => ({ [CID]: contentId, alt });

/** The names of the message's images that the text shows. */
export const shownImages = (root: ParentNode): ReadonlySet<string> =>
  new Set([...root.querySelectorAll(`img[${CID}]`)].map((image) => image.getAttribute(CID) ?? ''));

/** How HTML names an image of its message (RFC 2392). */
export const cidUrl = (contentId: string): string => `cid:${encodeURIComponent(contentId).replaceAll('%40', '@')}`;

export interface Written {
  /** As it is sent. */
  readonly html: string;
  readonly text: string;
}

export function writtenIn(root: HTMLElement): Written {
  // Its images load nothing in a document without a window.
  const copy = document.implementation.createHTMLDocument('').importNode(root, true);
  for (const image of copy.querySelectorAll('img')) {
    const contentId = image.getAttribute(CID);
    const remote = image.getAttribute(REMOTE);
    if (contentId !== null) image.setAttribute('src', cidUrl(contentId));
    else if (remote !== null) image.setAttribute('src', remote);
    image.removeAttribute(CID);
    image.removeAttribute(REMOTE);
  }
  return {
    html: copy.innerHTML.replaceAll('\u200b', ''),
    text: plainText(copy as unknown as TextNode).replaceAll('\u200b', ''),
  };
}

/** The text of a version, to tell it from another one. */
export function textBeginning(html: string): string {
  const holder = document.implementation.createHTMLDocument('').createElement('div');
  holder.append(editorFragment(html));
  return plainText(holder as unknown as TextNode);
}

/** The safe HTML of a mail's body, as text that `editorFragment` reads again. `keepsRemote`: images from elsewhere stay named. */
export function safeHtml(html: string, { keepsRemote }: { readonly keepsRemote: boolean }): string {
  const holder = document.implementation.createHTMLDocument('').createElement('div');
  holder.append(editorFragment(html));
  for (const element of holder.querySelectorAll(`.${SIGNATURE}`)) element.removeAttribute('class');
  if (!keepsRemote)
    for (const image of holder.querySelectorAll(`img[${REMOTE}]`)) image.replaceWith(image.getAttribute('alt') ?? '');
  return writtenIn(holder).html;
}

/** The text of an email with another signature; as it is, where its writer has removed the signature. */
export function withSignature(html: string, signature: string): string {
  const holder = document.implementation.createHTMLDocument('').createElement('div');
  holder.append(editorFragment(html));
  const place = holder.querySelector(`.${SIGNATURE}`);
  if (place === null) return html;
  place.replaceChildren(editorFragment(signature === '' ? '<br>' : signature));
  return writtenIn(holder).html;
}
