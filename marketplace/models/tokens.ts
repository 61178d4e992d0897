/**
 * Longer texts are not read in whole, but in as many pieces of as many characters, each somewhere in its part of the text: a caller who
 * knew where could put blanks there.
 */
const READ = { max: 131_072, pieces: 32, chars: 4_096 }

/** Letters of one kind: up to which code they go, how many of a run cost one token, and what each further one costs. */
interface Kind {
  readonly below: number
  readonly whole: number
  readonly more: number
  /** What each letter of it costs beside, as words with it are rarer. */
  readonly each?: number
  /** Continues a word of plain letters. */
  readonly isLatin?: true
}

const BLANK: Kind = { below: 0, whole: 64, more: 1 / 64 }
const BREAK: Kind = { below: 0, whole: 8, more: 1 / 16 }
const DIGIT: Kind = { below: 0, whole: 3, more: 1 / 3 }
const MARK: Kind = { below: 0, whole: 2, more: 1 / 3 }
const LETTER: Kind = { below: 0, whole: 7, more: 0.42, isLatin: true }

/**
 * Fitted to the encoding o200k_base on prose in sixteen languages, program text, JSON and random letters; the test beside says how
 * close they come. By code unit, so that the halves of a letter beyond the first plane are counted as they come.
 */
const OTHERS: readonly Kind[] = [
  { ...MARK, below: 0xc0 },
  { ...LETTER, below: 0x100, each: 0.25 },
  { ...LETTER, below: 0x370, each: 0.7 },
  { below: 0x400, whole: 3, more: 0.45 },
  { below: 0x530, whole: 5, more: 0.36 },
  { below: 0x800, whole: 3, more: 0.5 },
  { below: 0x1100, whole: 4, more: 0.45 },
  { below: 0x1200, whole: 1, more: 0.62 },
  { below: 0x1e00, whole: 1, more: 1 },
  { ...LETTER, below: 0x2000, each: 0.1 },
  { ...MARK, below: 0x3040 },
  { below: 0x3100, whole: 1, more: 0.7 },
  { below: 0xa000, whole: 1, more: 0.72 },
  { below: 0xac00, whole: 1, more: 1 },
  { below: 0xd800, whole: 1, more: 0.62 },
  { below: 0xe000, whole: 2, more: 0.8 },
  { below: 0xff00, whole: 1, more: 1 },
  { ...MARK, below: 0x10000 },
]

const KINDS: readonly Kind[] = [BLANK, BREAK, DIGIT, MARK, LETTER, ...OTHERS]
/** Index of the kind of each code unit. */
const KIND_OF = indexOfKinds()

/**
 * About how many tokens a text has, in whatever language; never held up by what is in it. A tokenizer's own table would take 67 MB
 * and half a second, and its time grows with the square of a word's length: the letters of a Chinese page are one word.
 */
export function estimatedTokens(text: string): number {
  if (text.length <= READ.max) return Math.ceil(tokensOf(text))
  const part = text.length / READ.pieces
  let tokens = 0
  for (let i = 0; i < READ.pieces; i++) {
    const at = Math.floor(i * part + Math.random() * (part - READ.chars))
    tokens += tokensOf(text.slice(at, at + READ.chars))
  }
  return Math.ceil((tokens * text.length) / (READ.pieces * READ.chars))
}

function tokensOf(text: string): number {
  let sum = 0
  let at = 0
  let index = text.length === 0 ? 0 : indexAt(text, 0)
  while (at < text.length) {
    const kind = KINDS[index] as Kind
    let end = at
    let beside = 0
    let next = index
    // A run: of one kind, or a word whose letters may differ.
    do {
      beside += (KINDS[next] as Kind).each ?? 0
      end += 1
      next = end < text.length ? indexAt(text, end) : -1
    } while (next === index ? !beginsWord(text, end) : next >= 0 && isLatin(kind, next) && !beginsWord(text, end))
    // A single blank belongs to the word after it.
    if (kind !== BLANK || end - at > 1) sum += beside + 1 + Math.max(0, end - at - kind.whole) * kind.more
    at = end
    index = next
  }
  return sum
}

function indexAt(text: string, at: number): number {
  return KIND_OF[text.charCodeAt(at)] as number
}

function isLatin(kind: Kind, next: number): boolean {
  return kind.isLatin === true && (KINDS[next] as Kind).isLatin === true
}

/** Where a capital follows a small letter. */
function beginsWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 65 && code <= 90 && text.charCodeAt(at - 1) >= 97
}

function indexOfKinds(): Uint8Array {
  const indexes = new Uint8Array(0x10000)
  let from = 128
  for (const kind of OTHERS) {
    indexes.fill(KINDS.indexOf(kind), from, kind.below)
    from = kind.below
  }
  for (let code = 0; code < 128; code++) indexes[code] = KINDS.indexOf(plainKind(String.fromCharCode(code)))
  return indexes
}

function plainKind(letter: string): Kind {
  if (letter === ' ' || letter === '\t') return BLANK
  if (letter === '\n' || letter === '\r') return BREAK
  if (/\d/.test(letter)) return DIGIT
  return /[a-z]/i.test(letter) ? LETTER : MARK
}
