// The elements and attributes of mail that are shown. Whatever is not named here is left out: of an element its content stays, unless
// that is no text for a reader.

const GLOBAL = ['align', 'class', 'dir', 'id', 'lang', 'title', 'valign'];
const SIZE = ['height', 'width'];
const TABLE = ['bgcolor', 'border', 'bordercolor', 'cellpadding', 'cellspacing', 'frame', 'rules', 'summary', ...SIZE];
const CELL = ['abbr', 'axis', 'bgcolor', 'colspan', 'headers', 'nowrap', 'rowspan', 'scope', ...SIZE];

/** Attributes that an element has as well as the global ones. */
const OWN_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ['name'],
  body: ['bgcolor', 'link', 'text'],
  br: ['clear'],
  col: ['span', 'width'],
  colgroup: ['span', 'width'],
  font: ['color', 'face', 'size'],
  hr: ['color', 'noshade', 'size', 'width'],
  img: ['alt', 'border', 'hspace', 'vspace', ...SIZE],
  li: ['type', 'value'],
  ol: ['reversed', 'start', 'type'],
  table: TABLE,
  tbody: ['bgcolor'],
  td: CELL,
  tfoot: ['bgcolor'],
  th: CELL,
  thead: ['bgcolor'],
  time: ['datetime'],
  tr: ['bgcolor', 'height'],
  ul: ['type'],
};

const PLAIN =
  'abbr acronym address article aside b bdi bdo big blockquote caption center cite code dd del dfn dir div dl dt em figcaption figure ' +
  'footer h1 h2 h3 h4 h5 h6 header i ins kbd main mark menu nav ol p pre q rp rt ruby s samp section small span strike strong sub sup ' +
  'tt u var wbr';

export const VOID_ELEMENTS: ReadonlySet<string> = new Set(['br', 'col', 'hr', 'img', 'wbr']);

/** Elements that are shown, `body` and `html` apart. */
export const ELEMENTS: ReadonlySet<string> = new Set(
  [...PLAIN.split(' '), ...Object.keys(OWN_ATTRIBUTES)].filter((name) => name !== 'body'),
);

/** Attributes that are read before they are written in another form. */
const READ_ATTRIBUTES = ['href', 'src', 'type'];

export const ATTRIBUTES: readonly string[] = [
  ...new Set([...GLOBAL, ...READ_ATTRIBUTES, ...Object.values(OWN_ATTRIBUTES).flat()]),
];

/** Attributes that color something. */
export const COLOR_ATTRIBUTES: ReadonlySet<string> = new Set(['bgcolor', 'color', 'link', 'text']);

const GLOBAL_NAMES: ReadonlySet<string> = new Set(GLOBAL);

/** Says if an attribute is shown as it is. */
export function isAttributeShown(element: string, attribute: string): boolean {
  return GLOBAL_NAMES.has(attribute) || (OWN_ATTRIBUTES[element]?.includes(attribute) ?? false);
}
