import type { Result } from '../../consensus/primitives/result.ts'
import type { DocumentFile, DocumentSheet } from './document-tasks.ts'
import type { Readiness } from './readiness.ts'

/** Longest document that is made: more than the longest request takes, as it is paid for before its pages are counted. */
export const DOCUMENT_PAGES_MAX = 400
/** Largest file of a document. */
export const DOCUMENT_BYTES_MAX = 2_097_152

/** Sets documents as PDF. */
export interface Documents {
  readonly readiness: () => Readiness
  /** ISO 4217 code of documents that name no currency. */
  readonly currency: string
  /** Scripts that the fonts here print, by name, those that are asked for most first. */
  readonly scripts: readonly string[]
  /** Characters of a text, whole with their marks, that no font here can set; each once. */
  readonly unsettable: (text: string) => readonly string[]
  /** The same sheet is the same bytes. A fault where it exceeds the bounds of documents. */
  readonly render: (sheet: DocumentSheet, signal: AbortSignal) => Promise<Result<DocumentFile>>
}
