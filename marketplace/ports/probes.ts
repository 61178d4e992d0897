import type { Readiness } from './readiness.ts'

/** What one GET of an endpoint came to. */
export interface Probe {
  readonly path: string
  /** Null where no answer came. */
  readonly status: number | null
  readonly latencyMs: number
  readonly requestId: string | null
  readonly contentType: string | null
  /** Why no answer came. */
  readonly error: string | null
}

/** Looks at the endpoint that the operator named, and at no other. */
export interface EndpointProbe {
  readonly readiness: () => Readiness
  /** Base address that is looked at; empty where there is none. */
  readonly target: string
  /** One GET without redirects and repetitions, within `timeoutMs`. */
  readonly probe: (path: string, timeoutMs: number, signal: AbortSignal) => Promise<Probe>
}
