import { randomBytes } from 'node:crypto'

/**
 * Host that public documents are made with where the node has no public address: callers choose the one that they ask under, so
 * a document for each would be made anew for each. Random, so that no document says it for another reason; no format escapes it.
 */
export const STAND_IN_HOST = `${randomBytes(16).toString('hex')}.invalid`

/** The address that a document is made with, and the host that is put into it at the end. */
export function standInFor(baseUrl: string): { readonly baseUrl: string; readonly host: string } {
  const start = baseUrl.indexOf('://') + '://'.length
  return { baseUrl: baseUrl.slice(0, start) + STAND_IN_HOST, host: baseUrl.slice(start) }
}

/** A document with the host that it was asked under; `host` needs no escape in any format, as `isAuthority` of the server sees to. */
export function withHost(text: string, host: string): string {
  return text.replaceAll(STAND_IN_HOST, () => host)
}
