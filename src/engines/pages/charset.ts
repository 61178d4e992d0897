import iconv from 'iconv-lite'
import type { PageBody } from '../../../marketplace/ports/page-tasks.ts'

/** `guess` if no charset is named, or an unknown one. */
export type CharsetFrom = 'bom' | 'header' | 'markup' | 'guess'

/** `charset` is in lower case. */
export interface DecodedText {
  readonly text: string
  readonly charset: string
  readonly charsetFrom: CharsetFrom
}

/** Bytes of markup that are searched for a charset (HTML Living Standard, 13.2.3.2). */
const PRESCAN_BYTES = 1_024
const NAME = /^[a-z0-9][a-z0-9_.:()-]{0,39}$/
const IN_MARKUP =
  /<meta[^>]{0,400}?charset\s{0,20}=\s{0,20}["']?\s{0,20}([\w.:()-]{1,40})|^\s{0,20}<\?xml[^>]{0,200}?encoding\s{0,20}=\s{0,20}["']([\w.:()-]{1,40})["']/i
/** Labels that the web uses for a wider charset (Encoding Standard, 4.2), and common aliases. */
const MEANT: Readonly<Record<string, string>> = {
  'iso-8859-1': 'windows-1252',
  latin1: 'windows-1252',
  ascii: 'windows-1252',
  'us-ascii': 'windows-1252',
  'iso-8859-9': 'windows-1254',
  gb2312: 'gbk',
  shift_jis: 'shift_jis',
  utf8: 'utf-8',
}

/**
 * Decodes bytes by their byte order mark, else by the header, else by the markup. Otherwise they are UTF-8 if valid,
 * else windows-1252. The text is well-formed and without NUL.
 */
export function decodePage({ bytes, charset }: Pick<PageBody, 'bytes' | 'charset'>): DecodedText {
  const named = byMark(bytes) ?? byName(charset, 'header') ?? byMarkup(bytes) ?? guess(bytes)
  const text = iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), named.charset)
  return { ...named, text: text.toWellFormed().replaceAll('\0', '') }
}

type Named = Omit<DecodedText, 'text'>

function byMark(bytes: Uint8Array): Named | undefined {
  const [a, b, c] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return { charset: 'utf-8', charsetFrom: 'bom' }
  if (a === 0xfe && b === 0xff) return { charset: 'utf-16be', charsetFrom: 'bom' }
  if (a === 0xff && b === 0xfe) return { charset: 'utf-16le', charsetFrom: 'bom' }
  return undefined
}

function byName(name: string | null, charsetFrom: CharsetFrom): Named | undefined {
  const label = name?.trim().toLowerCase() ?? ''
  if (!NAME.test(label)) return undefined
  const charset = Object.hasOwn(MEANT, label) ? (MEANT[label] as string) : label
  return isKnown(charset) ? { charset, charsetFrom } : undefined
}

/** Markup that can be read as ASCII is not UTF-16, whatever it declares (HTML Living Standard, 13.2.3.2). */
function byMarkup(bytes: Uint8Array): Named | undefined {
  const head = Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString('latin1')
  const found = IN_MARKUP.exec(head)
  const named = byName(found?.[1] ?? found?.[2] ?? null, 'markup')
  return named?.charset.startsWith('utf-16') ? { ...named, charset: 'utf-8' } : named
}

function guess(bytes: Uint8Array): Named {
  const isUtf8 = isUtf8Prefix(bytes)
  return { charset: isUtf8 ? 'utf-8' : 'windows-1252', charsetFrom: 'guess' }
}

/** A body that was cut off may end within a character. */
function isUtf8Prefix(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Codecs of iconv-lite that are not charsets of pages: transfer encodings, names of Node, and variants of Unicode. */
const NO_CHARSETS = new Set(['base64', 'hex', 'binary', 'internal', 'cesu8', 'utf7', 'utf-7', 'utf7imap', 'utf-7-imap'])

function isKnown(charset: string): boolean {
  return !NO_CHARSETS.has(charset) && iconv.encodingExists(charset)
}
