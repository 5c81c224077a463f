// The icons of the page: symbols of one sprite (icons.svg), which the build puts into index.html.

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
  | 'chevron-left'
  | 'chevron-right'
  | 'arrow-left'
  | 'arrow-right'
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
  | 'undo-2'
  | 'keyboard'
  | 'circle-alert'
  | 'shield-alert'
  | 'shield-check'
  | 'circle-check'
  | 'external-link'
  | 'user'
  | 'users'
  | 'key'
  | 'smartphone'
  | 'monitor'
  | 'log-out'
  | 'sun'
  | 'moon'
  | 'globe'
  | 'funnel'
  | 'arrow-up-down'
  | 'refresh-cw'
  | 'wifi-off'
  | 'eye'
  | 'code'
  | 'bell'
  | 'maximize-2'
  | 'minimize-2'
  | 'info'
  | 'upload'
  | 'arrow-up'
  | 'square'
  | 'square-check'
  | 'eraser'
  | 'map-pin'
  | 'file'
  | 'video'
  | 'music'
  | 'at-sign'
  | 'folder-plus';

/** Icons that point along the line of text are mirrored where it runs from right to left. */
const MIRRORED: ReadonlySet<IconName> = new Set<IconName>([
  'arrow-left',
  'arrow-right',
  'chevron-left',
  'chevron-right',
  'reply',
  'reply-all',
  'forward',
  'send',
  'undo-2',
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
