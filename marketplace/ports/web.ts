import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'

/** Maximum length of an address, as the services' interface promises. */
export const URL_CHARS_MAX = 2_048
/** No public host name is this long, in any spelling; converting one to ASCII takes time quadratic in its length. */
export const LONG_HOST = /^https?:\/\/[^/?#\\]{1024}/i

/** How a page is read. */
export interface WebRequest {
  /** Media types that the caller can use, as of the Accept header. */
  readonly accept: string
  /** Most bytes of the body, counted after decompression. */
  readonly bytesMax: number
  /** What happens to a longer body: it is cut there, or the reading fails (`web/too-large`). */
  readonly tooLong: 'cut' | 'fail'
  /** Reading ends here early, without being too long: the body up to and with this text, any case (`</head>`). */
  readonly until?: string
  /** Validators of a copy that the caller has: the answer may then be 304 with an empty body. */
  readonly etag?: string
  readonly lastModified?: string
  /** Where that copy was read in the end, if not at the address itself: its validators mean nothing anywhere else. */
  readonly copyUrl?: string
  /** How old a kept copy may be, in milliseconds, where the site allows one; without it none is looked for. */
  readonly freshMs?: number
  /** Whether robots.txt of the site is obeyed, where the operator has that on. */
  readonly robots?: boolean
}

/** A page as it was read. */
export interface WebPage {
  readonly url: string
  /** Where it was read in the end. */
  readonly finalUrl: string
  readonly redirects: readonly { readonly status: number; readonly url: string }[]
  readonly status: number
  /** As the header has it; empty where there is none. */
  readonly contentType: string
  /** Parts of the content type: lower case, without parameters; and its charset. */
  readonly mediaType: string
  readonly charset: string | null
  readonly body: Uint8Array
  /** Whether the body was cut at a bound. */
  readonly truncated: boolean
  readonly etag: string | null
  readonly lastModified: string | null
  /** Whether the answer may be kept for another call. */
  readonly storable: boolean
  /** For how long, milliseconds; absent where the site does not say. */
  readonly maxAgeMs?: number
  readonly fetchedAtMs: number
}

/**
 * Reads addresses of strangers on the public web, and nothing else: no address of this machine or of a private network is ever
 * connected to, whatever the URL, the resolver or a redirect says.
 */
export interface WebReader {
  readonly readiness: () => Readiness
  /** Reads the text of an absolute http(s) URL and holds it against what may be read; the fault is `web/refused`. */
  readonly check: (text: string) => Result<URL>
  /** Reads a page. Faults: `web/refused`, `web/unreachable`, `web/timeout`, `web/too-large`, `web/answer`, `web/busy`. */
  readonly read: (url: URL, request: WebRequest, signal: AbortSignal) => Promise<Result<WebPage>>
}
