import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { LruMap } from '../../consensus/primitives/lru.ts'

/** A document as it goes out. */
export interface DocumentAnswer {
  /** 304 if the client has it already. */
  readonly status: 200 | 304
  readonly body: Uint8Array | string
  readonly headers: Readonly<Record<string, string>>
}

/** The headers of a request that decide the status and the encoding of the answer. */
export interface DocumentRequest {
  readonly acceptEncoding: string | undefined
  readonly ifNoneMatch: string | undefined
}

type Encoding = 'br' | 'gzip' | 'identity'

const CACHE_CONTROL = 'public, max-age=30'
/** Shorter documents fit into one packet uncompressed. */
const COMPRESS_FROM_CHARS = 1_024
/** Most bodies that are kept compressed: enough for the documents of a few base addresses. */
const KEPT_MAX = 64
/** Brotli's best quality is 11. This one compresses about as well, in a tenth of the time. */
const BROTLI_QUALITY = 5
const HASH_CHARS = 27
/** Most characters compressed per minute: some seconds of work. Beyond it, bodies that are not kept go out uncompressed. */
export const COMPRESSED_PER_MINUTE = 32 * 1024 * 1024
const MINUTE_MS = 60_000

const gzipped = promisify<Buffer, Buffer>(gzip)
const brotlied = promisify<Buffer, { params: Record<number, number> }, Buffer>(brotliCompress)
const compressors: Readonly<Record<Exclude<Encoding, 'identity'>, (body: Buffer) => Promise<Uint8Array>>> = {
  br: (body) => brotlied(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: gzipped,
}

/** A body by its encoding. The values are promises, so that requests at the same time share one compression. */
type Forms = Map<Encoding, Promise<Uint8Array>>

/** Makes public documents cacheable: a strong ETag for each encoding, and kept compressed bodies. */
export class Documents {
  readonly #forms = new LruMap<string, Forms>(KEPT_MAX)
  #minute = { endsMs: 0, chars: 0 }

  async answer(body: string, { acceptEncoding, ifNoneMatch }: DocumentRequest): Promise<DocumentAnswer> {
    const name = hash('sha256', body, 'base64url').slice(0, HASH_CHARS)
    const encoding = body.length < COMPRESS_FROM_CHARS ? 'identity' : chosenEncoding(acceptEncoding ?? '')
    const etag = `"${encoding === 'identity' ? name : `${name}-${encoding}`}"`
    const headers = { etag, 'cache-control': CACHE_CONTROL }
    if (ifNoneMatch !== undefined && names(ifNoneMatch, name)) return { status: 304, body: '', headers }
    const form = encoding === 'identity' ? undefined : this.#form(name, body, encoding)
    if (form === undefined) return { status: 200, body, headers: { ...headers, etag: `"${name}"` } }
    return { status: 200, body: await form, headers: { ...headers, 'content-encoding': encoding } }
  }

  #form(name: string, body: string, encoding: Exclude<Encoding, 'identity'>): Promise<Uint8Array> | undefined {
    const forms: Forms = this.#forms.get(name) ?? new Map()
    const known = forms.get(encoding)
    if (known !== undefined) return known
    if (!this.#mayCompress(body.length)) return undefined
    const form = compressors[encoding](Buffer.from(body))
    forms.set(encoding, form)
    this.#forms.set(name, forms)
    return form
  }

  #mayCompress(chars: number): boolean {
    const nowMs = performance.now()
    if (nowMs >= this.#minute.endsMs) this.#minute = { endsMs: nowMs + MINUTE_MS, chars: 0 }
    if (this.#minute.chars + chars > COMPRESSED_PER_MINUTE) return false
    this.#minute.chars += chars
    return true
  }
}

/** Whether `If-None-Match` names a body. Its ETag in any encoding counts, whichever the client asks for. */
function names(ifNoneMatch: string, name: string): boolean {
  return ifNoneMatch.split(',').some((tag) => {
    const [, value] = /^\s*(?:W\/)?"([^"]*)"\s*$/.exec(tag) ?? []
    return tag.trim() === '*' || value?.replace(/-(br|gzip)$/, '') === name
  })
}

/** The compression to which the client gives more weight: `identity` if both weigh 0, else Brotli if both weigh the same. */
function chosenEncoding(accept: string): Encoding {
  const weights = new Map(accept.split(',').map(weightOf))
  const weight = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0
  const [br, gz] = [weight('br'), weight('gzip')]
  if (br > 0 && br >= gz) return 'br'
  return gz > 0 ? 'gzip' : 'identity'
}

function weightOf(part: string): readonly [string, number] {
  const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
  const q = parameters.find((text) => text.startsWith('q='))
  const weight = q === undefined ? 1 : Number(q.slice(2))
  return [name, Number.isFinite(weight) ? weight : 0]
}
