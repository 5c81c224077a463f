// Port: spans of the way of a message or request through actors, nodes and gateways. Between spans travels a string, the
// W3C trace context (traceparent), so packets and rows carry it as it is. With `NO_TRACER` nothing is recorded; a context
// that came in a packet is handed on all the same.

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** `internal` when absent. */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  /** Trace context it belongs under; the current one when absent, a new trace when there is none or it is malformed. */
  readonly parent?: string | undefined;
  /** Other trace contexts that are related. */
  readonly links?: readonly string[];
  readonly attributes?: Attributes;
}

export interface Span {
  /** Trace context for the work that the span causes; undefined when nothing is traced. */
  readonly trace: string | undefined;
  /** Spans that begin in `work` are children of this span. */
  within<T>(work: () => T): T;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** To be called once. `failure`: what went wrong; only its code or name is kept, texts may hold addresses. */
  end(failure?: unknown): void;
}

export interface Tracer {
  /** The current trace context; undefined when there is none or nothing is traced. */
  readonly current: string | undefined;
  /** Spans that begin in `work` belong to this trace context, or to none. */
  within<T>(trace: string | undefined, work: () => T): T;
  start(name: string, options?: SpanOptions): Span;
}

export const NO_SPAN: Span = {
  trace: undefined,
  within: (work) => work(),
  rename: () => {},
  set: () => {},
  end: () => {},
};

export const NO_TRACER: Tracer = {
  current: undefined,
  within: (_trace, work) => work(),
  start: () => NO_SPAN,
};

/** Carries out `work` in the span and ends it. */
export function spanned<T>(span: Span, work: () => Promise<T>): Promise<T> {
  return span === NO_SPAN ? work() : carriedOut(span, work);
}

async function carriedOut<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await span.within(work);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
