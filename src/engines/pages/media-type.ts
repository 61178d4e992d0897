import type { PageBody } from '../../../marketplace/ports/page-tasks.ts'

/** How a body is read. */
export type BodyKind = 'html' | 'json' | 'xml' | 'text'

const HTML = new Set(['text/html', 'application/xhtml+xml'])
const TEXTS = new Set(['application/javascript', 'application/yaml', 'application/x-yaml', 'application/toml'])
const LOOKS_HTML = /<(!doctype\s+html|html|head|body|title|meta|div|p)[\s>]/i
const SNIFF_BYTES = 1_024

/** Null if the body is not text. A body without a type is sniffed. */
export function bodyKind({ mediaType, bytes }: Pick<PageBody, 'mediaType' | 'bytes'>): BodyKind | null {
  if (HTML.has(mediaType)) return 'html'
  if (mediaType === 'application/json' || /\+json$|\/(x-)?ndjson$/.test(mediaType)) return 'json'
  if (/^(text|application)\/xml$|\+xml$/.test(mediaType)) return mediaType.startsWith('image/') ? null : 'xml'
  if (mediaType.startsWith('text/') || TEXTS.has(mediaType)) return 'text'
  return mediaType === '' ? sniffed(bytes) : null
}

function sniffed(bytes: Uint8Array): BodyKind | null {
  const head = Buffer.from(bytes.subarray(0, SNIFF_BYTES)).toString('latin1')
  if (LOOKS_HTML.test(head)) return 'html'
  return head.includes('\0') && !/^(\xff\xfe|\xfe\xff)/.test(head) ? null : 'text'
}
