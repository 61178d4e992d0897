/** Maximum octets of an address and its local part (RFC 5321, 4.5.3.1, without the path's brackets). */
const ADDRESS_OCTETS_MAX = 254
const LOCAL_OCTETS_MAX = 64
const DOMAIN_CHARS_MAX = 253
const LABEL_CHARS_MAX = 63

/** RFC 5322 dot-atom in ASCII, and with the letters of other scripts that RFC 6532 adds. */
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
const DOT_ATOM = new RegExp(`^${ATOM}+(\\.${ATOM}+)*$`)
const WIDE_ATOM = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]"
const WIDE_DOT_ATOM = new RegExp(`^${WIDE_ATOM}+(\\.${WIDE_ATOM}+)*$`, 'u')
/** RFC 5321 quoted string. */
const QUOTED = /^"([ !\x23-\x5b\x5d-\x7e]|\\[ -~])+"$/
/** Characters of domains before they are converted to ASCII; ideographic full stops count as dots. */
const DOMAIN = /^[\p{L}\p{N}\p{M}.\u3002\u00b7\u30fb-]+$/u
/** A name that ends in a number. URL parsers take it for an IPv4 address and rewrite it. */
const ENDS_IN_NUMBER = /(^|\.)(\d+|0x[\da-f]*)$/i
const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** Endings outside the public DNS (RFC 2606, 6761, 6762, 7686, 8375, 9476), or common in home networks. */
const NOT_PUBLIC =
  /(^|\.)(alt|arpa|corp|example|home|internal|intranet|invalid|lan|local|localdomain|localhost|onion|private|test)$/

/** The parts of a mail address. */
export interface MailAddress {
  /** Local part in composed Unicode (NFC). Case is kept: only the domain knows whether it matters. */
  readonly local: string
  /** In ASCII, lower case. */
  readonly domain: string
  /** Many servers do not accept quoted or international local parts. */
  readonly form: 'plain' | 'quoted' | 'international'
}

/** A mail address, or the rule that it breaks. */
export type ReadAddress =
  | { readonly valid: true; readonly address: MailAddress }
  | { readonly valid: false; readonly reason: string }

/**
 * Parses a mail address (RFC 5321, 5322, 6531). Comments, folding white space and address literals are refused: they
 * belong to message syntax, not to addresses that people exchange.
 */
export function readMailAddress(text: string): ReadAddress {
  const at = text.lastIndexOf('@')
  if (at < 0) return broken('there is no @')
  const local = text.slice(0, at).normalize('NFC')
  const form = formOf(local)
  if (typeof form !== 'string') return broken(form.reason)
  const domain = domainIn(text.slice(at + 1))
  if (typeof domain !== 'string') return broken(domain.reason)
  if (octets(local) + 1 + domain.length > ADDRESS_OCTETS_MAX)
    return broken(`the address is longer than ${ADDRESS_OCTETS_MAX} octets`)
  return { valid: true, address: { local, domain, form } }
}

function formOf(local: string): MailAddress['form'] | { readonly reason: string } {
  if (local === '') return { reason: 'there is nothing before the @' }
  if (octets(local) > LOCAL_OCTETS_MAX)
    return { reason: `the part before the @ is longer than ${LOCAL_OCTETS_MAX} octets` }
  if (DOT_ATOM.test(local)) return 'plain'
  if (QUOTED.test(local)) return 'quoted'
  if (WIDE_DOT_ATOM.test(local)) return 'international'
  if (/^\.|\.$|\.\./.test(local))
    return { reason: 'the part before the @ begins or ends with a dot, or has two in a row' }
  return { reason: 'the part before the @ has a character that must be quoted or cannot be there' }
}

function domainIn(text: string): string | { readonly reason: string } {
  if (text === '') return { reason: 'there is nothing after the @' }
  if (text.startsWith('[')) return { reason: 'address literals take no mail of the public' }
  if (text.length > ADDRESS_OCTETS_MAX || !DOMAIN.test(text))
    return { reason: 'the domain has a character that domains do not have' }
  const ascii = asciiOf(text)
  const labels = ascii?.split('.') ?? []
  if (ascii === null || ascii.length > DOMAIN_CHARS_MAX || !labels.every(isLabel))
    return { reason: 'the domain is no name of a host' }
  if (labels.length < 2) return { reason: 'the domain has no dot' }
  if (ENDS_IN_NUMBER.test(ascii)) return { reason: 'the domain ends with a number' }
  return NOT_PUBLIC.test(ascii) ? { reason: 'the domain is none of the public name system' } : ascii
}

/** In lower-case ASCII (UTS 46); null if the domain has no such form. A name that ends in a number is not converted. */
function asciiOf(domain: string): string | null {
  const last = domain.split(/[.\u3002]/).at(-1) as string
  if (ENDS_IN_NUMBER.test(last.normalize('NFKC'))) return domain.toLowerCase()
  return URL.canParse(`http://${domain}`) ? new URL(`http://${domain}`).hostname : null
}

function isLabel(label: string): boolean {
  return label.length <= LABEL_CHARS_MAX && LABEL.test(label)
}

function octets(text: string): number {
  return new TextEncoder().encode(text).length
}

function broken(reason: string): ReadAddress {
  return { valid: false, reason }
}
