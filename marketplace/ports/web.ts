import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'

/** Maximum length of an address, as the services' interface promises. */
export const URL_CHARS_MAX = 2_048
/** Matches a host name longer than any public one. Converting a host name to ASCII takes time quadratic in its length. */
export const LONG_HOST = /^https?:\/\/[^/?#\\]{1024}/i

/** How to read a page. */
export interface WebRequest {
  readonly accept: string
  /** Most bytes of the body after decompression. */
  readonly bytesMax: number
  /** What happens to a longer body: it is cut there, or reading fails (`web/too-large`). */
  readonly tooLong: 'cut' | 'fail'
  /** The body ends after this text, in upper or lower case (`</head>`). */
  readonly until?: string
  /** Validators of a copy that the caller has. The answer may be 304 with an empty body. */
  readonly etag?: string
  readonly lastModified?: string
  /** Final address of that copy after a redirect. Its validators are valid only there. */
  readonly copyUrl?: string
  /** Most age of a cached copy in ms, if the site allows caching. Without it no cache is used. */
  readonly freshMs?: number
  /** Whether to obey the site's robots.txt, if the operator has turned that on. */
  readonly robots?: boolean
}

/** A page that was read. */
export interface WebPage {
  readonly url: string
  readonly finalUrl: string
  readonly redirects: readonly { readonly status: number; readonly url: string }[]
  readonly status: number
  /** The header Content-Type; empty without it. */
  readonly contentType: string
  /** Media type in lower case, without parameters. */
  readonly mediaType: string
  readonly charset: string | null
  readonly body: Uint8Array
  readonly truncated: boolean
  readonly etag: string | null
  readonly lastModified: string | null
  /** Whether the answer may be cached. */
  readonly storable: boolean
  /** How long the answer may be cached, in ms; absent if the site does not say. */
  readonly maxAgeMs?: number
  readonly fetchedAtMs: number
}

/** Reads the public web. It never connects to this machine or a private network, whatever URL, DNS or redirects say. */
export interface WebReader {
  readonly readiness: () => Readiness
  /** An absolute http(s) URL that may be read. The fault is `web/refused`. */
  readonly check: (text: string) => Result<URL>
  /** Faults: `web/refused`, `web/unreachable`, `web/timeout`, `web/too-large`, `web/answer`, `web/busy`. */
  readonly read: (url: URL, request: WebRequest, signal: AbortSignal) => Promise<Result<WebPage>>
}
