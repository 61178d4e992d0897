import { Tokenizer } from 'htmlparser2'

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
/** Elements whose end tag may be left out (HTML, 13.1.2.4). */
const OPTIONAL_END = new Set(
  'html head body p li dt dd option optgroup rt rp tr td th thead tbody tfoot colgroup caption'.split(' '),
)
const NAME_CHARS_MAX = 40

/**
 * A sentence; null if all elements that need an end tag are closed in order. HTML has no other syntax errors that
 * matter here.
 */
export function tagProblem(html: string): string | null {
  const tags = new TagStack(html)
  const ignored = (): void => undefined
  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: false },
    {
      onopentagname: tags.name,
      onopentagend: tags.open,
      onselfclosingtag: ignored,
      onclosetag: tags.close,
      onattribdata: ignored,
      onattribentity: ignored,
      onattribend: ignored,
      onattribname: ignored,
      oncdata: ignored,
      oncomment: ignored,
      ondeclaration: ignored,
      onend: ignored,
      onprocessinginstruction: ignored,
      ontext: ignored,
      ontextentity: ignored,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return tags.problem()
}

class TagStack {
  readonly #html: string
  readonly #open: string[] = []
  /** Open elements by name, so that a stray end tag needs no search. */
  readonly #counts = new Map<string, number>()
  #name = ''
  #problem: string | null = null

  constructor(html: string) {
    this.#html = html
  }

  readonly name = (start: number, end: number): void => {
    this.#name = this.#html.slice(start, end).toLowerCase()
  }

  readonly open = (): void => {
    if (VOID.has(this.#name)) return
    this.#open.push(this.#name)
    this.#count(this.#name, 1)
  }

  readonly close = (start: number, end: number): void => {
    const name = this.#html.slice(start, end).trim().toLowerCase()
    if ((this.#counts.get(name) ?? 0) === 0) {
      // Browsers turn `</p>` and `</br>` into elements, and ignore the end tags of other empty elements.
      if (name !== 'p' && !VOID.has(name)) this.#note(`</${short(name)}> closes nothing`)
      return
    }
    for (;;) {
      const last = this.#open.pop() as string
      this.#count(last, -1)
      if (last === name) return
      if (!OPTIONAL_END.has(last)) this.#note(`<${short(last)}> is not closed before </${short(name)}>`)
    }
  }

  problem(): string | null {
    const left = this.#open.findLast((name) => !OPTIONAL_END.has(name))
    return this.#problem ?? (left === undefined ? null : `<${short(left)}> is not closed`)
  }

  #count(name: string, by: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by)
  }

  #note(problem: string): void {
    this.#problem ??= problem
  }
}

function short(name: string): string {
  return name.slice(0, NAME_CHARS_MAX)
}
