// The JSON text of a reply that is joined from parts that are already encoded.

export class EncodedJson<T> {
  readonly text: string;
  /** The type whose JSON the text is; it has no value at run time. */
  declare readonly of: T;

  /** `text`: the JSON of a `T`. */
  constructor(text: string) {
    this.text = text;
  }
}
