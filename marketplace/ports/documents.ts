import type { Result } from '../../consensus/primitives/result.ts'
import type { DocumentFile, DocumentSheet } from './document-tasks.ts'
import type { Readiness } from './readiness.ts'

/** The longest allowed request has fewer pages, so that no paid request fails on this limit. */
export const DOCUMENT_PAGES_MAX = 400
/** Most bytes of a document's file. */
export const DOCUMENT_BYTES_MAX = 2_097_152

/** Makes PDF documents. */
export interface Documents {
  readonly readiness: () => Readiness
  /** ISO 4217 code for documents that name no currency. */
  readonly currency: string
  /** Names of the scripts that the fonts can print, the most wanted first. */
  readonly scripts: readonly string[]
  /** Characters of a text, with their combining marks, that no font can print; each once. */
  readonly unsettable: (text: string) => readonly string[]
  /** The same sheet gives the same bytes. A fault if the document exceeds a limit. */
  readonly render: (sheet: DocumentSheet, signal: AbortSignal) => Promise<Result<DocumentFile>>
}
