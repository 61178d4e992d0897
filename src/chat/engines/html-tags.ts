import { Tokenizer } from 'htmlparser2'

/** Elements without content. */
const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
/** Elements whose end tag may be left out (HTML, 13.1.2.4). */
const OPTIONAL_END = new Set(
  'html head body p li dt dd option optgroup rt rp tr td th thead tbody tfoot colgroup caption'.split(' '),
)
const NAME_CHARS_MAX = 40

/**
 * What is wrong with the tags of an HTML text, in a sentence; null where every element that must be closed is, in the order in
 * which they were opened. HTML has no syntax errors as such, so nothing else is looked at.
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

/** Elements that are open. */
class TagStack {
  readonly #html: string
  readonly #open: string[] = []
  /** How often each name is open: a stray end tag must not cost a search. */
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
      // `</p>` and `</br>` make elements of their own.
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
