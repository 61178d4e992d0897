/** A name beside a value, both as they shall appear. */
export interface LabelledText {
  readonly label: string
  readonly value: string
}

/** Somebody that a document names. */
export interface SheetParty {
  /** What stands above the name. */
  readonly label: string
  readonly name: string
  readonly lines: readonly string[]
}

/** One position of a document. */
export interface SheetRow {
  readonly description: string
  readonly qty: string
  readonly unitPrice: string
  /** The rate, where those of the rows differ: then in all of them, and in the heads. */
  readonly vat?: string
  readonly amount: string
}

/** A document, ready to be set: every figure worked out and written as it shall appear. */
export interface DocumentSheet {
  /** What it is, in large letters. */
  readonly heading: string
  readonly number: string
  /** YYYY-MM-DD; also the day of making that the file tells, so that the same sheet is the same file. */
  readonly issueDate: string
  readonly seller: SheetParty | null
  readonly buyer: SheetParty
  /** Dates and references at the top. */
  readonly facts: readonly LabelledText[]
  readonly columns: SheetRow
  readonly rows: readonly SheetRow[]
  /** Sums below the rows; the last is the one that counts. */
  readonly totals: readonly LabelledText[]
  /** What the one that counts contains, to be said below it. */
  readonly contained?: readonly LabelledText[]
  /** What follows the sums: how it was or shall be paid. */
  readonly sections: readonly { readonly heading: string; readonly facts: readonly LabelledText[] }[]
  readonly notes: string | null
  /** How the figures were worked out. */
  readonly rule: string
}

/** A font file of the operator, with the code points that are set with it: ranges in hexadecimal, `20-7e a0-ff`. */
export interface OperatorFont {
  readonly path: string
  readonly ranges: string
}

/** What is set, and with which fonts beside the built-in ones. */
export interface DocumentJob {
  readonly sheet: DocumentSheet
  readonly fonts: readonly OperatorFont[]
}

/** A finished document. */
export interface DocumentFile {
  readonly pages: number
  readonly bytes: Uint8Array
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string
}

/** Work on documents. */
export interface DocumentTasks {
  readonly 'document/pdf': { readonly input: DocumentJob; readonly output: DocumentFile }
  /** Looks into a font file for what can be set with it. */
  readonly 'document/font': { readonly input: { readonly path: string }; readonly output: OperatorFont }
}
