/** A document, ready to be set: every figure worked out and written as it shall appear. */
export interface DocumentJob {
  readonly title: string
  readonly kind: 'invoice' | 'proforma' | 'receipt' | 'credit-note' | 'quote'
}

/** A finished document. */
export interface DocumentFile {
  readonly pages: number
  readonly bytes: Uint8Array
}

/** Work on documents. */
export interface DocumentTasks {
  readonly 'document/pdf': { readonly input: DocumentJob; readonly output: DocumentFile }
}
