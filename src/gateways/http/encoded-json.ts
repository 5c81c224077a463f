// JSON of a reply that is made of parts that are encoded already.

export class EncodedJson<T> {
  readonly text: string;
  /** What the text is the JSON of: a type alone. */
  declare readonly of: T;

  /** `text`: JSON of a `T`. */
  constructor(text: string) {
    this.text = text;
  }
}
