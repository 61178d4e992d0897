import { randomBytes } from 'node:crypto'

/**
 * Host that public documents are made with, if the node has no public address. Callers choose the host in a request, and
 * the node would make a document anew for each host. The stand-in is random, so that no document has it by chance. No
 * format escapes its characters.
 */
export const STAND_IN_HOST = `${randomBytes(16).toString('hex')}.invalid`

/** The base URL with the stand-in host, and the host that {@link withHost} puts back. */
export function standInFor(baseUrl: string): { readonly baseUrl: string; readonly host: string } {
  const start = baseUrl.indexOf('://') + '://'.length
  return { baseUrl: baseUrl.slice(0, start) + STAND_IN_HOST, host: baseUrl.slice(start) }
}

/** A document with the requested host. `host` needs no escape in any format: the server's `isAuthority` checks that. */
export function withHost(text: string, host: string): string {
  return text.replaceAll(STAND_IN_HOST, () => host)
}
