/** A turn of a dialogue: its position, and its trimmed text with the speaker's label. */
export interface Turn {
  readonly start: number
  readonly text: string
  /** Where the label ends. */
  readonly saidAt: number
  /** The speaker's name as written, without the colon. */
  readonly speaker: string
}

/** A speaker's label: "Anna:", "DR. OKORO:", "Agent 2:", optionally after a time: "[26.11.26, 12:12]", "12:12 -". */
const LABEL =
  // Not `^` with the flag m: it also matches after \r and U+2028, and a run of those would be rescanned from each, in
  // quadratic time.
  /(?<![^\n])[^\S\n]*(?:[[(]?(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?[^\S\n])?\d{1,2}:\d{2}(?::\d{2})?(?:[^\S\n]?[AaPp]\.?[Mm]\.?)?[\])]?[^\S\n]+(?:[-\u2013][^\S\n]+)?)?(\p{Lu}[\p{L}\p{M}\d.'\u2019-]{0,24}(?:[^\S\n][\p{Lu}\d][\p{L}\p{M}\d.'\u2019-]{0,24}){0,2})[^\S\n]?:(?=[^\S\n]+\S)/gu
/** A dialogue has at least this many turns, and this share of labelled lines. */
const TURNS_MIN = 3
const LABELLED_MIN = 0.4

/** The turns of a dialogue, in order; empty if the text is no dialogue. Linear in the length. */
export function turnsOf(text: string): readonly Turn[] {
  const labels = [...text.matchAll(LABEL)]
  const lines = text.match(/\S[^\n]*/g)?.length ?? 0
  if (labels.length < TURNS_MIN || labels.length < lines * LABELLED_MIN || !comesBack(labels.map(speakerOf))) return []
  return labels.map((label, i) => {
    const start = label.index + label[0].length - label[0].trimStart().length
    const turn = text.slice(start, labels[i + 1]?.index ?? text.length).trimEnd()
    return { start, text: turn, saidAt: label.index + label[0].length, speaker: speakerOf(label) }
  })
}

/** The text with its labels blanked, so that positions stay the same, and the speakers. */
export function withoutLabels(text: string): { readonly text: string; readonly speakers: readonly string[] } {
  const turns = turnsOf(text)
  if (turns.length === 0) return { text, speakers: [] }
  let [said, at] = ['', 0]
  for (const { start, saidAt } of turns) {
    said += `${text.slice(at, start)}\n${' '.repeat(saidAt - start - 1)}`
    at = saidAt
  }
  return { text: said + text.slice(at), speakers: [...new Set(turns.map(({ speaker }) => speaker))] }
}

/** A dialogue has at least two speakers, and one speaks again. Headings such as "Price:" appear once. */
function comesBack(speakers: readonly string[]): boolean {
  const different = new Set(speakers).size
  return different > 1 && different < speakers.length
}

function speakerOf(label: RegExpMatchArray): string {
  return label[1] as string
}
