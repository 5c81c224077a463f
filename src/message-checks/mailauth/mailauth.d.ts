// The functions of mailauth that Mansio calls. Its own types describe its main entry, which also loads BIMI with its XML and HTTP code.

declare module 'mailauth/lib/tools.js' {
  interface Line {
    /** Returns the octets of the field with `binary`, otherwise its text. */
    toString(encoding?: string): string;
  }
  interface Field {
    readonly key: string;
    readonly casedKey: string;
    readonly line: Line;
  }
  interface SigningLines {
    readonly keys: string;
    readonly headers: readonly Field[];
  }
  type Resolve = (name: string, type: string) => Promise<unknown>;

  /** Returns the fields that `h=` names, by RFC 6376 §5.4.2. */
  export function getSigningHeaderLines(fields: readonly Field[], names: string, verify: boolean): SigningLines;
  /** `rr` is the record. Rejects with `code`: a DNS code of Node, EINVALIDVER, EINVALIDTYPE, EINVALIDVAL, ESHORTKEY. */
  export function getPublicKey(
    type: string,
    name: string,
    minBits: number,
    resolver: Resolve,
  ): Promise<{ readonly publicKey: string; readonly rr: string }>;
}

declare module 'mailauth/lib/dkim/header/index.js' {
  import type { Line, SigningLines } from 'mailauth/lib/tools.js';

  interface Canonicalized {
    readonly canonicalizedHeader: Buffer;
    /** The field of a new signature, folded, with `a`s in its last tag, `b`. */
    readonly signatureHeaderLine: string;
  }
  export function generateCanonicalizedHeader(
    type: 'DKIM' | 'ARC',
    lines: SigningLines,
    options: {
      readonly signatureHeaderLine?: Line;
      readonly canonicalization: string;
      readonly signingDomain?: string;
      readonly selector?: string;
      readonly algorithm?: string;
      readonly bodyHash?: string;
      readonly signTime?: Date;
    },
  ): Canonicalized;
}

declare module 'mailauth/lib/arc/index.js' {
  import type { Field, Line, Resolve } from 'mailauth/lib/tools.js';

  interface ArcField {
    readonly original: Line;
    signAlgo?: string;
    algorithm?: string;
  }
  interface ArcSet {
    readonly i: number;
    readonly 'arc-seal': ArcField;
    readonly 'arc-message-signature': ArcField;
  }
  /** Returns false when there is no set. Throws when the sets are not a chain. */
  export function getARChain(headers: { readonly parsed: readonly Field[] }): readonly ArcSet[] | false;
  /** Returns the fields of a further set, with their line ends. */
  export function sealMessage(
    message: Buffer,
    seal: {
      readonly signingDomain: string;
      readonly selector: string;
      readonly privateKey: string;
      /** The value of the field Authentication-Results. */
      readonly authResults: string;
      readonly cv: string;
      readonly signTime: Date;
    },
  ): Promise<Buffer>;
  /** Rejects when a seal does not verify. */
  export function verifyASChain(
    data: { readonly chain: readonly ArcSet[] },
    options: { readonly resolver: Resolve; readonly minBitLength: number },
  ): Promise<boolean>;
}

declare module 'mailauth/lib/spf/spf-verify.js' {
  interface SpfError {
    error: 'none' | 'permerror' | 'temperror';
    text?: string;
  }
  type SpfResolve = (name: string, type: string) => Promise<unknown>;

  /** Rejects with `spfResult`, or with any error that a malformed record causes. */
  export function spfVerify(
    domain: string,
    options: {
      readonly sender: string;
      readonly ip: string;
      readonly helo: string;
      readonly mta: string;
      readonly resolver: SpfResolve;
      readonly createSubResolver: () => SpfResolve & {
        getResolveCount(): number;
        getVoidCount(): number;
      };
    },
  ): Promise<false | { readonly qualifier?: '+' | '-' | '~' | '?'; readonly error?: SpfError['error'] }>;
}
