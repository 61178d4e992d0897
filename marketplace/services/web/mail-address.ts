/** Longest address and local part in octets (RFC 5321, 4.5.3.1, with the path's brackets taken off). */
const ADDRESS_OCTETS_MAX = 254
const LOCAL_OCTETS_MAX = 64
const DOMAIN_CHARS_MAX = 253
const LABEL_CHARS_MAX = 63

/** RFC 5322 dot-atom of ASCII, and with letters of other scripts as RFC 6532 adds them. */
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
const DOT_ATOM = new RegExp(`^${ATOM}+(\\.${ATOM}+)*$`)
const WIDE_ATOM = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]"
const WIDE_DOT_ATOM = new RegExp(`^${WIDE_ATOM}+(\\.${WIDE_ATOM}+)*$`, 'u')
/** RFC 5321 quoted string. */
const QUOTED = /^"([ !\x23-\x5b\x5d-\x7e]|\\[ -~])+"$/
/** Characters that domains are written with, before they are turned to ASCII; ideographic full stops are dots. */
const DOMAIN = /^[\p{L}\p{N}\p{M}.\u3002\u00b7\u30fb-]+$/u
/** What a URL takes for an IPv4 address, and rewrites. */
const ENDS_IN_NUMBER = /(^|\.)(\d+|0x[\da-f]*)$/i
const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** Ends of names that are not those of the public name system (RFC 2606, 6761, 6762, 7686, 8375, 9476), or of networks at home. */
const NOT_PUBLIC =
  /(^|\.)(alt|arpa|corp|example|home|internal|intranet|invalid|lan|local|localdomain|localhost|onion|private|test)$/

/** A mail address taken apart. */
export interface MailAddress {
  /** As it was written, in Unicode's composed form; case is kept, as only its domain knows whether that matters. */
  readonly local: string
  /** In ASCII, lower case. */
  readonly domain: string
  /** What of the local part many servers do not take. */
  readonly form: 'plain' | 'quoted' | 'international'
}

/** A mail address, or the rule that it breaks. */
export type ReadAddress =
  | { readonly valid: true; readonly address: MailAddress }
  | { readonly valid: false; readonly reason: string }

/**
 * Reads a mail address: dot-atoms and quoted strings before the last @, with letters of other scripts (RFC 5321, 5322, 6531), a
 * domain of at least two labels after it. Comments, folding white space and address literals are refused: they are syntax of
 * messages, not of addresses that are handed around.
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

/** The domain in ASCII (UTS 46), lower case; null where it has none. */
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
