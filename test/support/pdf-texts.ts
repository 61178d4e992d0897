import { inflateSync } from 'node:zlib'

/**
 * Texts of the structure tree's elements, in the order of the file: the letters that their marked content shows, joined
 * without separators. Reads only files as pdfkit writes them, and only elements that lie on one page.
 */
export function readElementTexts(bytes: Uint8Array): readonly string[] {
  const text = Buffer.from(bytes).toString('latin1')
  const heads = new Map<string, string>()
  const streams = new Map<string, string>()
  for (const [, id = '', head = '', stream] of text.matchAll(
    /\n(\d+) 0 obj\n(<<[\s\S]*?>>)\n(?:stream\n([\s\S]*?)\nendstream\n)?endobj/g,
  )) {
    heads.set(id, head)
    if (stream !== undefined && head.includes('/FlateDecode')) streams.set(id, stream)
  }
  const content = (id: string): string =>
    inflateSync(Buffer.from(streams.get(id) as string, 'latin1')).toString('latin1')
  const letters = lettersByFont([...heads.values()], (id) => content(refOf(heads.get(id) as string, 'ToUnicode')))
  return [...heads.values()].flatMap((head) => {
    const [, marks, page] = /\/K \[([\d ]+)\]\n\/Pg (\d+) 0 R/.exec(head) ?? []
    if (marks === undefined || page === undefined) return []
    const shown = markedTexts(content(refOf(heads.get(page) as string, 'Contents')), letters)
    return [
      marks
        .split(' ')
        .map((mark) => shown.get(mark))
        .join(''),
    ]
  })
}

function refOf(head: string, name: string): string {
  return new RegExp(`/${name} (\\d+) 0 R`).exec(head)?.[1] as string
}

/** Letters of each font by their code. */
type Letters = ReadonlyMap<string, readonly string[]>

function lettersByFont(heads: readonly string[], mapOf: (font: string) => string): Letters {
  const fonts = heads.flatMap((head) => [...head.matchAll(/\/(F\d+) (\d+) 0 R/g)])
  return new Map(
    fonts.map(([, name = '', id = '']) => [
      name,
      [...mapOf(id).matchAll(/<[\da-f]+> <[\da-f]+> \[(.*)\]/g)].flatMap(([, codes = '']) =>
        codes
          .slice(1, -1)
          .split('> <')
          .map((code) => Buffer.from(code.replaceAll(' ', ''), 'hex').swap16().toString('utf16le')),
      ),
    ]),
  )
}

function markedTexts(content: string, letters: Letters): ReadonlyMap<string, string> {
  const shown = new Map<string, string>()
  for (const [, mark = '', drawn = ''] of content.matchAll(/\/MCID (\d+)\n>> BDC\n([\s\S]*?)\nEMC/g)) {
    let font: readonly string[] = []
    let said = ''
    for (const [, name, pieces = ''] of drawn.matchAll(/\/(F\d+) [\d.]+ Tf|\[(.*)\] TJ/g)) {
      if (name !== undefined) font = letters.get(name) as readonly string[]
      const codes = [...pieces.matchAll(/<([\da-f]+)>/g)].flatMap(([, hex = '']) => hex.match(/.{4}/g) ?? [])
      said += codes.map((code) => font[Number.parseInt(code, 16)]).join('')
    }
    shown.set(mark, said)
  }
  return shown
}
