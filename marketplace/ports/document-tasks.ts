/** A label and a value, as printed. */
export interface LabelledText {
  readonly label: string
  readonly value: string
}

/** A person or company in a document. */
export interface SheetParty {
  /** Printed above the name. */
  readonly label: string
  readonly name: string
  readonly lines: readonly string[]
}

/** A line item of a document, or its column heads. */
export interface SheetRow {
  readonly description: string
  readonly qty: string
  readonly unitPrice: string
  /** VAT rate: in all rows and the column heads if the rows have different rates, else in none. */
  readonly vat?: string
  readonly amount: string
}

/** A document ready to be laid out: every figure is computed and formatted. */
export interface DocumentSheet {
  readonly heading: string
  readonly number: string
  /** YYYY-MM-DD. Also the creation date in the file, so that the same sheet gives the same file. */
  readonly issueDate: string
  readonly seller: SheetParty | null
  readonly buyer: SheetParty
  /** Printed at the top: dates, the invoice that is referred to, and the currency. */
  readonly facts: readonly LabelledText[]
  readonly columns: SheetRow
  readonly rows: readonly SheetRow[]
  /** Sums below the rows; the last is the final one. */
  readonly totals: readonly LabelledText[]
  /** Amounts contained in the final sum, printed below it. */
  readonly contained?: readonly LabelledText[]
  /** Printed below the sums: how the document was or must be paid. */
  readonly sections: readonly { readonly heading: string; readonly facts: readonly LabelledText[] }[]
  readonly notes: string | null
  /** How the figures were computed. */
  readonly rule: string
}

/** A font file of the operator, and the code points that it prints: ranges in hexadecimal, `20-7e a0-ff`. */
export interface OperatorFont {
  readonly path: string
  /** Code points that the font prints, as hexadecimal ranges: `20-7e a0-ff`. */
  readonly ranges: string
}

/** A sheet, and the fonts to use beside the built-in ones. */
export interface DocumentJob {
  readonly sheet: DocumentSheet
  readonly fonts: readonly OperatorFont[]
}

/** A finished document. */
export interface DocumentFile {
  readonly pages: number
  readonly bytes: Uint8Array
  /** In hexadecimal. */
  readonly sha256: string
}

/** Work on documents. */
export interface DocumentTasks {
  readonly 'document/pdf': { readonly input: DocumentJob; readonly output: DocumentFile }
  /** Finds out which code points a font file can print. */
  readonly 'document/font': { readonly input: { readonly path: string }; readonly output: OperatorFont }
}
