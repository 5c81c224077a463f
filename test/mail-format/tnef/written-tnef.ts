// Writes TNEF as Outlook does, for tests: attributes, and the properties of the message and of files.

export interface WrittenFile {
  readonly title?: string;
  /** The content in the data attribute, which most programs write. */
  readonly data?: Uint8Array;
  readonly properties?: readonly Buffer[];
}

export interface WrittenTnef {
  readonly codepage?: number;
  readonly body?: string;
  readonly properties?: readonly Buffer[];
  readonly files?: readonly WrittenFile[];
}

const u16 = (value: number) => Buffer.from([value & 0xff, value >> 8]);
const u32 = (value: number) => {
  const octets = Buffer.alloc(4);
  octets.writeUInt32LE(value);
  return octets;
};
const padded = (octets: Buffer) => Buffer.concat([octets, Buffer.alloc((4 - (octets.length % 4)) % 4)]);

function attribute(level: number, id: number, data: Buffer): Buffer {
  const checksum = data.reduce((sum, octet) => (sum + octet) & 0xffff, 0);
  return Buffer.concat([Buffer.from([level]), u32(id), u32(data.length), data, u16(checksum)]);
}

export const fixed = (type: number, id: number, octets: Buffer): Buffer => Buffer.concat([u16(type), u16(id), octets]);
export const long = (id: number, value: number): Buffer => fixed(0x0003, id, u32(value));
export const variable = (type: number, id: number, ...values: Buffer[]): Buffer =>
  Buffer.concat([
    u16(type),
    u16(id),
    u32(values.length),
    ...values.flatMap((value) => [u32(value.length), padded(value)]),
  ]);
export const unicode = (id: number, text: string): Buffer => variable(0x001f, id, Buffer.from(`${text}\0`, 'utf16le'));
export const string8 = (id: number, text: string): Buffer => variable(0x001e, id, Buffer.from(`${text}\0`, 'latin1'));
export const binary = (id: number, octets: Uint8Array): Buffer => variable(0x0102, id, Buffer.from(octets));
/** Returns a property with a name, a text or a number. */
export const named = (name: string | number, property: Buffer): Buffer =>
  Buffer.concat([
    property.subarray(0, 2),
    u16(0x8001),
    Buffer.alloc(16, 7),
    ...(typeof name === 'number'
      ? [u32(0), u32(name)]
      : [u32(1), u32(Buffer.byteLength(name, 'utf16le')), padded(Buffer.from(name, 'utf16le'))]),
    property.subarray(4),
  ]);

const list = (properties: readonly Buffer[]) => Buffer.concat([u32(properties.length), ...properties]);

export function writtenTnef({ codepage = 1252, body, properties, files = [] }: WrittenTnef): Buffer {
  const pieces = [
    Buffer.from('789f3e220100', 'hex'),
    attribute(1, 0x00089006, u32(0x10000)),
    attribute(1, 0x00069007, Buffer.concat([u32(codepage), u32(0)])),
  ];
  if (body !== undefined) pieces.push(attribute(1, 0x0002800c, Buffer.from(`${body}\0`, 'latin1')));
  if (properties !== undefined) pieces.push(attribute(1, 0x00069003, list(properties)));
  for (const { title, data, properties: own } of files) {
    pieces.push(attribute(2, 0x00069002, Buffer.alloc(14, 1)));
    if (title !== undefined) pieces.push(attribute(2, 0x00018010, Buffer.from(`${title}\0`, 'latin1')));
    if (data !== undefined) pieces.push(attribute(2, 0x0006800f, Buffer.from(data)));
    if (own !== undefined) pieces.push(attribute(2, 0x00069005, list(own)));
  }
  return Buffer.concat(pieces);
}
