import { Parser } from 'htmlparser2'
import { type Attribute, type Attributes, attributesOf, isDropped, nestingMax, standIn } from './clean-elements.ts'
import { cutText, visible, webUrl } from './text.ts'
import { TextWriter } from './text-writer.ts'

/** A step of building a tree: an element begins, a text, or null for the end of an element. */
export type TreeStep = { readonly tag: string; readonly attributes: readonly Attribute[] } | string | null

/** A page reduced to its text, small and flat enough for parsers that build trees. */
export interface CleanPage {
  readonly head: readonly TreeStep[]
  readonly body: readonly TreeStep[]
  /** All readable text, in lines. */
  readonly text: string
  readonly title: string | null
  readonly lang: string | null
  readonly truncated: boolean
}

/** Deeper elements keep only their content. */
const DEPTH_MAX = 256
/** Nesting at which reading stops. No real page is so deep. */
const DEPTH_END = 1_024
/** Most elements and texts. */
const NODES_MAX = 50_000
/** In characters. An entity becomes a node of its own in trees, so it costs more. */
const TEXT_COST_MAX = 1_000_000
const ENTITY_COST = 20
/** Article readers scan these elements repeatedly. Beyond the limit only the content is kept. */
const COUNT_MAX: Readonly<Record<string, number>> = { a: 5_000, img: 1_000 }
const METAS_MAX = 200
const META_CHARS_MAX = 1_000
const TITLE_CHARS_MAX = 1_000
/** Machine-readable data in the head: author and date are often only there. */
const DATA_BLOCKS_MAX = 4
const DATA_CHARS_MAX = 65_536
/** Text is parsed in pieces, so that reading can stop between them. */
const PIECE_CHARS = 16_384

/** Reads untrusted markup in one pass. Time and memory are linear in its length. */
export function cleanPage(markup: string, url: string): CleanPage {
  const cleaner = new PageCleaner(url)
  const parser = new Parser({
    onopentag: (name, attributes) => cleaner.open(name, attributes),
    onclosetag: () => cleaner.close(),
    ontext: (text) => cleaner.text(text),
  })
  for (let at = 0; at < markup.length && !cleaner.ended; at += PIECE_CHARS) {
    parser.write(markup.slice(at, at + PIECE_CHARS))
  }
  parser.end()
  cleaner.end()
  return cleaner.page()
}

/** What an open element became: a tag, only its content, nothing, the title, or a block of data. */
type Open = string | 'content' | 'dropped' | 'title' | 'data'

class PageCleaner {
  readonly #body: TreeStep[] = []
  readonly #head: TreeStep[] = []
  /** The parser splits texts at entities. */
  #pieces: string[] = []
  readonly #text = new TextWriter()
  readonly #open: { readonly tag: string; readonly as: Open }[] = []
  readonly #nested = new Map<string, number>()
  #base: string
  #hasBase = false
  #depth = 0
  #dropping = 0
  readonly #counts = new Map<string, number>()
  #nodes = 0
  #textCost = 0
  #metas = 0
  #dataBlocks = 0
  #data = ''
  #title: string | null = null
  #lang: string | null = null
  ended = false

  constructor(url: string) {
    this.#base = url
  }

  open(tag: string, attributes: Attributes): void {
    this.#endText()
    this.#count()
    if (this.ended) return
    this.#open.push({ tag, as: this.#dropping > 0 ? this.#drop() : this.#begin(tag, attributes) })
  }

  close(): void {
    const element = this.#open.pop()
    if (element === undefined) return
    this.#endText()
    const { as } = element
    if (as === 'dropped') this.#dropping -= 1
    else if (as === 'data') this.#endData()
    else if (as !== 'content' && as !== 'title') this.#end(as)
  }

  text(text: string): void {
    if (this.ended || this.#dropping > 0) return
    const as = this.#open.at(-1)?.as
    if (as === 'title') this.#title = cutText((this.#title ?? '') + text, TITLE_CHARS_MAX)
    else if (as === 'data') this.#data = cutText(this.#data + text, DATA_CHARS_MAX + 1)
    else this.#pieces.push(text)
  }

  end(): void {
    this.#endText()
  }

  page(): CleanPage {
    const [head, body, text] = [this.#head, this.#body, this.#text.toString()]
    return { head, body, text, title: this.#title, lang: this.#lang, truncated: this.ended }
  }

  #endText(): void {
    if (this.#pieces.length === 0) return
    this.#count()
    const text = visible(this.#pieces.join(''))
    this.#pieces = []
    this.#textCost += text.length + ENTITY_COST * (text.split(/[&<>]/).length - 1)
    this.ended ||= this.#textCost > TEXT_COST_MAX
    if (this.#textCost > 2 * TEXT_COST_MAX) return
    this.#body.push(text)
    this.#text.text(text)
  }

  #count(): void {
    this.#nodes += 1
    this.ended ||= this.#nodes > NODES_MAX || this.#open.length > DEPTH_END
  }

  #begin(tag: string, attributes: Attributes): Open {
    if (tag === 'html') this.#lang ??= cutText(attributes.lang ?? '', 35) || null
    if (tag === 'base') this.#setBase(attributes.href)
    if (tag === 'meta') this.#keepMeta(attributes)
    if (tag === 'title' && this.#title === null) return 'title'
    if (tag === 'script' && this.#isData(attributes)) return 'data'
    if (isDropped(tag, attributes)) return this.#drop()
    const as = standIn(tag)
    const nested = this.#nested.get(tag) ?? 0
    if (as === null || this.#depth >= DEPTH_MAX || nested >= nestingMax(tag)) return 'content'
    const count = (this.#counts.get(as) ?? 0) + 1
    if (count > (COUNT_MAX[as] ?? NODES_MAX)) return 'content'
    this.#counts.set(as, count)
    this.#nested.set(as, nested + 1)
    this.#depth += 1
    this.#body.push({ tag: as, attributes: attributesOf(as, attributes, this.#base) })
    this.#text.open(as)
    return as
  }

  #end(tag: string): void {
    this.#depth -= 1
    this.#nested.set(tag, (this.#nested.get(tag) ?? 1) - 1)
    this.#body.push(null)
    this.#text.close(tag)
  }

  #drop(): Open {
    this.#dropping += 1
    return 'dropped'
  }

  /** Only the first base element counts (HTML Living Standard, 4.2.3), and only if it is a web address. */
  #setBase(href: string | undefined): void {
    if (this.#hasBase || href === undefined) return
    this.#hasBase = true
    this.#base = webUrl(href, this.#base) ?? this.#base
  }

  #keepMeta({ name, property, itemprop, content }: Attributes): void {
    if (content === undefined || content.length > META_CHARS_MAX || this.#metas >= METAS_MAX) return
    this.#metas += 1
    const names: readonly Attribute[] = [
      ['name', name ?? null],
      ['property', property ?? null],
      ['itemprop', itemprop ?? null],
    ]
    const attributes = names.filter(([, value]) => value !== null && value.length <= META_CHARS_MAX)
    this.#head.push({ tag: 'meta', attributes: [...attributes, ['content', content]] }, null)
  }

  #isData({ type }: Attributes): boolean {
    return type?.trim().toLowerCase() === 'application/ld+json' && this.#dataBlocks < DATA_BLOCKS_MAX
  }

  #endData(): void {
    this.#dataBlocks += 1
    const isWhole = this.#data.length <= DATA_CHARS_MAX
    if (isWhole) this.#head.push({ tag: 'script', attributes: [['type', 'application/ld+json']] }, this.#data, null)
    this.#data = ''
  }
}
