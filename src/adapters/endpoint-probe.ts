import { request } from 'undici'
import type { EndpointProbe, Probe } from '../../marketplace/ports/probes.ts'
import { notConfigured, type Readiness } from '../../marketplace/ports/readiness.ts'

const VALUE_CHARS_MAX = 200
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-correlation-id']

/**
 * Probes one base address, which may be private: the operator named it, and callers cannot change it. Each probe opens
 * a new connection, because it measures the wait of a new client.
 */
export class HttpEndpointProbe implements EndpointProbe {
  /** The base address without credentials and query. */
  readonly target: string
  readonly #base: string

  /** The base address without a trailing slash; empty if the operator named none. */
  constructor(base: string) {
    this.#base = base
    this.target = base.replace(/^(https?:\/\/)[^/?#]*@/i, '$1').replace(/[?#].*$/, '')
  }

  readonly readiness = (): Readiness =>
    this.#base === ''
      ? notConfigured('an endpoint', 'validation.target', 'rpc.public-url')
      : { available: true, engine: 'http' }

  readonly probe = async (path: string, timeoutMs: number, signal: AbortSignal): Promise<Probe> => {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const startedMs = performance.now()
    const latencyMs = (): number => Math.round(performance.now() - startedMs)
    try {
      const { statusCode, headers, body } = await request(this.#base + path, { signal: ended, reset: true })
      body.on('error', () => {}).destroy()
      const header = (name: string): string | null => {
        const value = headers[name]
        return (typeof value === 'string' ? value : value?.[0])?.slice(0, VALUE_CHARS_MAX) ?? null
      }
      const requestId = REQUEST_ID_HEADERS.map(header).find((value) => value !== null) ?? null
      return {
        path,
        status: statusCode,
        latencyMs: latencyMs(),
        requestId,
        contentType: header('content-type'),
        error: null,
      }
    } catch (error) {
      const { code } = error as { readonly code?: string }
      const reason = ended.aborted ? `no answer within ${timeoutMs} ms` : (code ?? 'no answer that is HTTP')
      return { path, status: null, latencyMs: latencyMs(), requestId: null, contentType: null, error: reason }
    }
  }
}
