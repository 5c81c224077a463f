// The icons of the page: symbols of one sprite (icons.svg), which sprite.ts puts into the document.

export type IconName =
  | 'inbox'
  | 'star'
  | 'file-text'
  | 'send'
  | 'archive'
  | 'triangle-alert'
  | 'trash-2'
  | 'tag'
  | 'settings'
  | 'pencil'
  | 'search'
  | 'reply'
  | 'reply-all'
  | 'forward'
  | 'paperclip'
  | 'image'
  | 'check'
  | 'x'
  | 'menu'
  | 'chevron-down'
  | 'chevron-up'
  | 'arrow-left'
  | 'mail'
  | 'mail-open'
  | 'folder'
  | 'calendar'
  | 'download'
  | 'printer'
  | 'ellipsis'
  | 'clock'
  | 'copy'
  | 'plus'
  | 'minus'
  | 'bold'
  | 'italic'
  | 'underline'
  | 'list'
  | 'list-ordered'
  | 'text-quote'
  | 'link'
  | 'circle-alert'
  | 'shield-alert'
  | 'user'
  | 'key'
  | 'smartphone'
  | 'monitor'
  | 'log-out'
  | 'funnel'
  | 'code'
  | 'arrow-up'
  | 'eraser'
  | 'file'
  | 'video'
  | 'music';

/** Icons that point along the line of text are mirrored where it runs from right to left. */
const MIRRORED: ReadonlySet<IconName> = new Set<IconName>([
  'arrow-left',
  'reply',
  'reply-all',
  'forward',
  'send',
  'log-out',
]);

/** The icon has no name of its own: what it stands in has one. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class={MIRRORED.has(name) ? 'icon is-mirrored' : 'icon'} aria-hidden="true">
      <use href={`#icon-${name}`} />
    </svg>
  );
}
