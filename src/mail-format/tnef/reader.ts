// TNEF (winmail.dat, [MS-OXTNEF]): the files and texts in it as ranges of its octets, found in one pass over pieces of any size. Only names
// and the start of texts are held. Content that is not TNEF is refused; if a TNEF is cut or damaged, its complete files and texts count.
import { decodeCharset } from '../decode/charset.js';
import { storable } from '../decode/part-text.js';
import type { OctetRange } from '../message-index.js';
import { clean } from '../mime-index/header-text.js';
import { type OctetParse, OctetParser } from './octet-parser.js';
import {
  charsetOf,
  charsetOfCodepage,
  OBJECT,
  PROPERTY,
  type Property,
  properties,
  TEXT_SAMPLE,
} from './properties.js';

/** Ranges are in octets of the TNEF, without its transfer encoding. Strings are '' when the TNEF has none. */
export interface TnefFile {
  readonly name: string;
  readonly mediaType: string;
  readonly contentId: string;
  readonly range: OctetRange;
}

export interface TnefText {
  /** `rtf` is compressed RTF. */
  readonly subtype: 'plain' | 'html' | 'rtf';
  /** '' when the text names its own charset. */
  readonly charset: string;
  readonly range: OctetRange;
  /** The first octets of the range. */
  readonly sample: Buffer;
}

export interface TnefContents {
  readonly files: readonly TnefFile[];
  /** There is at most one of each subtype. */
  readonly texts: readonly TnefText[];
}

const SIGNATURE = 0x223e9f78;
const MESSAGE = 1;
const FILE = 2;
const ATTRIBUTE = {
  body: 0x0002800c,
  messageProperties: 0x00069003,
  codepage: 0x00069007,
  fileBegins: 0x00069002,
  fileTitle: 0x00018010,
  fileData: 0x0006800f,
  fileProperties: 0x00069005,
} as const;
/** The octets that are kept of each attribute. */
const KEPT: ReadonlyMap<number, number> = new Map([
  [ATTRIBUTE.body, TEXT_SAMPLE],
  [ATTRIBUTE.codepage, 4],
  [ATTRIBUTE.fileTitle, 1024],
]);
/** The octets of the id of its interface, with which an embedded object begins. */
const INTERFACE_ID = 16;
const EMBEDDED_MESSAGE = 5;
const NONE: ReadonlyMap<number, Property> = new Map();

interface OpenFile {
  title: Buffer | undefined;
  data: OctetRange | undefined;
  properties: ReadonlyMap<number, Property>;
}

export class TnefReader {
  readonly #parser: OctetParser;
  readonly #mostFiles: number;
  readonly #files: TnefFile[] = [];
  readonly #texts = new Map<TnefText['subtype'], TnefText>();
  #isTnef = false;
  #charset = 'windows-1252';
  #file: OpenFile | undefined;

  constructor(mostFiles: number) {
    this.#mostFiles = mostFiles;
    this.#parser = new OctetParser(this.#read());
  }

  push(octets: Uint8Array): void {
    this.#parser.push(octets);
  }

  /** Returns undefined when the octets are not a TNEF. */
  finish(): TnefContents | undefined {
    this.#endFile();
    return this.#isTnef ? { files: this.#files, texts: [...this.#texts.values()] } : undefined;
  }

  *#read(): OctetParse<void> {
    const head = yield { pass: 6, keep: 6 };
    if (head.readUInt32LE(0) !== SIGNATURE) return;
    this.#isTnef = true;
    for (let at = head.length; ; ) {
      const attribute = yield { pass: 9, keep: 9 };
      const level = attribute[0]!;
      const id = attribute.readUInt32LE(1);
      const range = { start: at + 9, end: at + 9 + attribute.readUInt32LE(5) };
      if (level !== MESSAGE && level !== FILE) return;
      if (level === FILE && id === ATTRIBUTE.fileBegins) this.#beginFile();
      if (level === MESSAGE && id === ATTRIBUTE.messageProperties) this.#readTexts(yield* properties(range));
      else if (this.#file !== undefined && id === ATTRIBUTE.fileProperties)
        this.#file.properties = yield* properties(range);
      else this.#attribute(id, range, yield { pass: range.end - range.start, keep: KEPT.get(id) ?? 0 });
      // Each attribute ends with a checksum.
      at = range.end + 2;
      yield { pass: 2, keep: 0 };
    }
  }

  #attribute(id: number, range: OctetRange, sample: Buffer): void {
    if (id === ATTRIBUTE.body) this.#addText({ subtype: 'plain', charset: this.#charset, range, sample });
    else if (id === ATTRIBUTE.codepage && sample.length === 4) {
      this.#charset = charsetOfCodepage(sample.readUInt32LE(0)) || this.#charset;
    } else if (id === ATTRIBUTE.fileTitle && this.#file !== undefined) this.#file.title = sample;
    else if (id === ATTRIBUTE.fileData && this.#file !== undefined) this.#file.data = range;
  }

  #readTexts(found: ReadonlyMap<number, Property>): void {
    const codepage = found.get(PROPERTY.internetCodepage)?.value;
    const charset = codepage?.length === 4 ? charsetOfCodepage(codepage.readUInt32LE(0)) : '';
    const add = (property: Property | undefined, subtype: TnefText['subtype'], otherwise: string): void => {
      if (property === undefined) return;
      const { range, value: sample } = property;
      this.#addText({ subtype, charset: charsetOf(property) ?? otherwise, range, sample });
    };
    add(found.get(PROPERTY.body), 'plain', this.#charset);
    add(found.get(PROPERTY.bodyHtml), 'html', charset);
    add(found.get(PROPERTY.bodyRtf), 'rtf', '');
  }

  #addText(text: TnefText): void {
    if (text.range.end > text.range.start && !this.#texts.has(text.subtype)) this.#texts.set(text.subtype, text);
  }

  #beginFile(): void {
    this.#endFile();
    this.#file = { title: undefined, data: undefined, properties: NONE };
  }

  /** A file with incomplete data does not count. */
  #endFile(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined || this.#files.length >= this.#mostFiles) return;
    const text = (id: number) => this.#nameOf(file.properties.get(id));
    const data = file.properties.get(PROPERTY.data);
    const range = data === undefined ? file.data : contentRange(data);
    if (range === undefined) return;
    const isMessage = file.properties.get(PROPERTY.method)?.value[0] === EMBEDDED_MESSAGE;
    this.#files.push({
      name: text(PROPERTY.longName) || this.#title(file) || text(PROPERTY.shortName) || text(PROPERTY.displayName),
      mediaType: isMessage ? 'application/ms-tnef' : text(PROPERTY.mediaType),
      contentId: text(PROPERTY.contentId).replace(/^<|>$/g, ''),
      range,
    });
  }

  #title({ title }: OpenFile): string {
    return title === undefined ? '' : textOf(title, this.#charset);
  }

  #nameOf(property: Property | undefined): string {
    return property === undefined ? '' : textOf(property.value, charsetOf(property) ?? this.#charset);
  }
}

function contentRange({ type, range: { start, end } }: Property): OctetRange {
  return { start: type === OBJECT ? Math.min(end, start + INTERFACE_ID) : start, end };
}

const textOf = (octets: Uint8Array, charset: string): string => clean(storable(decodeCharset(octets, charset)));
