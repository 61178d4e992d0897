/** Facts about a PDF file, read from its objects without a library. */
export interface PdfFacts {
  /** Width and height of each page, in points. */
  readonly pages: readonly (readonly [number, number])[]
  /** Names of the fonts, and how many are embedded. */
  readonly fonts: readonly string[]
  readonly embedded: number
  readonly lang: string | undefined
  readonly isMarkedTagged: boolean
  /** How many elements of each type the structure tree has, in the order of the file. */
  readonly tags: Readonly<Record<string, number>>
  readonly info: string
  /** Metadata as XMP. */
  readonly xmp: string
}

/** Reads files as pdfkit writes them: no object streams, no encryption. */
export function readPdf(bytes: Uint8Array): PdfFacts {
  const text = Buffer.from(bytes).toString('latin1')
  const objects = [
    ...text.matchAll(/\n\d+ 0 obj\n(<<[\s\S]*?>>|\([\s\S]*?\))\n(?:stream\n([\s\S]*?)\nendstream\n)?endobj/g),
  ].map(([, head = '', stream]) => ({ head, stream }))
  const heads = objects.map(({ head }) => head)
  const tags: Record<string, number> = {}
  for (const head of heads) {
    const tag = /^<<\n\/S \/(\w+)\n[\s\S]*\/P \d+ 0 R/.exec(head)?.[1]
    if (tag !== undefined) tags[tag] = (tags[tag] ?? 0) + 1
  }
  return {
    pages: [...text.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(
      ([, w, h]) => [Number(w), Number(h)] as const,
    ),
    fonts: heads.flatMap((head) => /\/Subtype \/Type0\n\/BaseFont \/(\S+)/.exec(head)?.[1] ?? []),
    embedded: heads.filter((head) => /\/Type \/FontDescriptor[\s\S]*\/FontFile2 \d+ 0 R/.test(head)).length,
    lang: /\/Lang \((\w+)\)/.exec(text)?.[1],
    isMarkedTagged: /\/Marked true/.test(text),
    tags,
    info: heads.filter((head) => head.startsWith('(')).join('\n'),
    xmp: Buffer.from(objects.find(({ head }) => head.includes('/Subtype /XML'))?.stream ?? '', 'latin1').toString(
      'utf8',
    ),
  }
}
