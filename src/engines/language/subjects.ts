import type { ENTITY_TYPES, Subjects } from '../../../marketplace/ports/language-tasks.ts'
import { withoutLabels } from '../../../marketplace/services/text/speakers.ts'
import { withoutCodes } from './codes.ts'
import { companiesIn, withoutDottedForms } from './companies.ts'
import { keyPhrases } from './keywords.ts'
import { nounPhrases } from './noun-phrases.ts'
import { NO_NAMES, NO_NAMES_ALONE, SHORT_FORMS, STOP_WORDS } from './stop-words.ts'
import { type TaggedWord, type TextPiece, taggedPieces, taggedWords } from './tagged-words.ts'

const ENTITIES_MAX = 30
const NAME_CHARS = { min: 3, max: 80 }

type Entity = Subjects['entities'][number]

/** Finds what a text is about: its key phrases and names. */
export function subjectsOf({ text }: { readonly text: string }): Subjects {
  const { text: said, speakers } = withoutLabels(text)
  const pieces = taggedPieces(withoutCodes(withoutDottedForms(said)))
  const words = taggedWords(pieces)
  const flat = flattened(text)
  const labels = new Set(speakers.map(flattened))
  const { keywords, topics } = keyPhrases(words.filter(({ lower }) => !labels.has(lower)))
  return {
    // Words separated by punctuation would not be found in the text.
    keywords: keywords.filter((keyword) => flat.includes(flattened(keyword.text))),
    entities: entities(said, pieces, words),
    topics,
  }
}

function flattened(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ')
}

function isOfNameLength(text: string): boolean {
  return text.length >= NAME_CHARS.min && text.length <= NAME_CHARS.max
}

/** Each name once, in full, and as the text writes it. */
function entities(text: string, pieces: readonly TextPiece[], words: readonly TaggedWord[]): readonly Entity[] {
  const found = new Map<string, Entity>()
  const add = (entity: Entity): void => {
    const key = entity.text.toLowerCase()
    if (found.size < ENTITIES_MAX && !found.has(key) && text.includes(entity.text)) found.set(key, entity)
  }
  const runs = nounPhrases(words)
    .filter(({ isName }) => isName)
    .map(({ words: name }) => name.map((word) => word.text).join(' '))
  const whole = new Set(runs.slice(0, RUNS_MAX))
  const companies = companiesIn(text).map(bare)
  for (const name of companies.filter(isName)) add({ text: name, type: 'organisation' })
  for (const piece of pieces) {
    for (const entity of namesIn(piece)) if (!companies.some((whole) => isPart(entity.text, whole))) add(entity)
  }
  for (const name of whole) {
    const parts = [...found.values()].filter((entity) => isPart(entity.text, name))
    for (const part of parts) found.delete(part.text.toLowerCase())
    const known = [...found.values()].some((entity) => isPart(name, entity.text))
    if (!known && isOfNameLength(name))
      add({ text: name, type: parts.length === 1 ? typeOf(parts[0] as Entity) : 'other' })
  }
  const all = [...found.values()]
  // "Mr Berg" after "Anna Berg" is the same person. York is not New York.
  return all.filter((one) => one.type !== 'person' || !all.some((other) => isSamePerson(one, other)))
}

function isSamePerson(part: Entity, whole: Entity): boolean {
  return whole.type === 'person' && isPart(part.text, whole.text)
}

/** Each of these names is compared with all names found before. */
const RUNS_MAX = 60

function isPart(part: string, whole: string): boolean {
  const owners = ` ${whole} `.replaceAll(/['\u2019]s(?= )/g, '')
  return part.length < whole.length && (` ${whole} `.includes(` ${part} `) || owners.includes(` ${part} `))
}

/** "Paris Agreement" is no place. */
function typeOf({ type }: Entity): Entity['type'] {
  return type === 'place' ? 'other' : type
}

/** "Breakage of pieces": after an abbreviation such as "Ltd." the tagger takes a thing for a person. */
function isThing(name: string, text: string): boolean {
  const at = text.indexOf(`${name} of `)
  return at >= 0 && /^\p{Ll}/u.test(text.slice(at + name.length + ' of '.length))
}

function namesIn({ document, text }: TextPiece): readonly Entity[] {
  if (document === null) return []
  const as = (names: readonly string[], type: (typeof ENTITY_TYPES)[number]): readonly Entity[] =>
    names
      .flatMap((name) => name.split(BORDER))
      .map((name) => ({ text: bare(name), type }))
      .filter((entity) => isName(entity.text) && !isSmallWord(entity.text))
  const first = new Set<string>(document.people().if('#FirstName').out('array'))
  const people: readonly string[] = document.people().out('array')
  return [
    ...as(
      people.filter((name) => first.has(name) || !isThing(name, text)),
      'person',
    ),
    ...as(document.places().out('array'), 'place'),
    ...as(document.organizations().out('array'), 'organisation'),
  ]
}

/** Names do not cross quotation marks, dashes, clause ends or line ends. */
const BORDER = /["\u201c\u201d\u201e()[\],;:!?\n]|\s[-\u2013\u2014]\s/u

/** Without punctuation around it and without titles. The full stop of an abbreviation stays. */
function bare(name: string): string {
  const whole =
    /[\p{L}\p{N}](?:.*[\p{L}\p{M}\p{N}])?(?:(?<=\.\p{L})\.)?/su.exec(name)?.[0]?.replace(/['\u2019]s$/, '') ?? ''
  const words = whole.split(' ')
  const first = words.findIndex((word) => !NO_NAMES.has(word.toLowerCase().replace(/\.$/, '')))
  return first < 0 ? '' : words.slice(first).join(' ')
}

/** The tagger takes "Did" and "That" at the start of a sentence for names. */
function isSmallWord(text: string): boolean {
  const lower = text.toLowerCase()
  return STOP_WORDS.has(lower) || NO_NAMES_ALONE.has(lower) || SHORT_FORMS.has(lower)
}

/** Of a longer English name, at least one further word begins with a capital letter or a digit too. */
function isName(text: string): boolean {
  if (text.length > NAME_CHARS.max || !/^[\p{Lu}\p{N}]/u.test(text) || !/\p{Lu}/u.test(text)) return false
  const words = text.split(/\s+/)
  return words.length === 1 || words.slice(1).some((word) => /^[\p{Lu}\p{N}]/u.test(word))
}
