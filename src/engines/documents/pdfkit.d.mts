/** The part of pdfkit 0.20 that is used here; the package brings no types of its own. */
declare module 'pdfkit' {
  import type { Readable } from 'node:stream'

  export interface ReadFont {
    /** Undefined for a collection of fonts. */
    readonly characterSet: readonly number[] | undefined
    readonly ascent: number
    readonly descent: number
    readonly unitsPerEm: number
  }

  export interface OpenedFont {
    readonly font: ReadFont
    /** Callers only read the result. */
    layoutRun(text: string, features: TextOptions['features']): unknown
  }

  export interface TextOptions {
    readonly lineBreak?: boolean
    readonly baseline?: 'alphabetic'
    readonly features?: Readonly<Record<string, boolean>>
  }

  export interface StructureElement {
    /** A function that draws is run at once if this element is attached to the document. */
    add(child: StructureElement | (() => void)): this
    end(): void
  }

  export class PDFDocument extends Readable {
    constructor(options: Readonly<Record<string, unknown>>)
    info: Record<string, unknown>
    readonly _font: OpenedFont
    registerFont(name: string, bytes: Uint8Array): this
    font(name: string): this
    fontSize(points: number): this
    widthOfString(text: string, options?: TextOptions): number
    text(text: string, x: number, y: number, options: TextOptions): this
    addPage(): this
    switchToPage(index: number): this
    fillColor(color: string): this
    rect(x: number, y: number, width: number, height: number): this
    fill(color: string): this
    struct(type: string, options?: Readonly<Record<string, unknown>>): StructureElement
    addStructure(element: StructureElement): this
    markContent(tag: string, options?: Readonly<Record<string, unknown>>): this
    endMarkedContent(): this
    /** Writes the XMP packet, from `info`. */
    endMetadata(): void
    end(): void
  }
}
